"""A file to summarise: code, or a configuration, under the names it is known by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.dataclass import dataclass, replace

if TYPE_CHECKING:  # late below, like all that a cached run never needs
    from dynamo_lint.index.ir import FileFacts


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A path below the linted root, and the module it is."""

    path: str
    module: str
    is_package: bool
    region_comment: str | None
    is_code: bool = True
    is_launcher: bool = False
    """It may start programs, and is no code."""
    is_configuration: bool = True
    """If it is no code: it may say what code builds."""

    def summarize(self, source: bytes) -> FileFacts:
        """The facts of this file, whose text is given."""
        if self.is_launcher:
            from dynamo_lint.index.launchers import summarize_launcher

            facts = summarize_launcher(self.path, source)
            return (
                replace(self._configured(source), launcher=facts.launcher) if self.is_configuration else facts
            )
        if not self.is_code:
            return self._configured(source)
        from dynamo_lint.index.summarize import summarize

        return summarize(self.path, self.module, self.is_package, source, self.region_comment)

    def _configured(self, source: bytes) -> FileFacts:
        from dynamo_lint.index.config_files import summarize_config

        return summarize_config(self.path, source)

    def unreadable(self, why: str, foreign: bool = False) -> FileFacts:
        """The facts of a file that cannot be read, with the reason; `foreign` if it is not Python at all."""
        from dynamo_lint.index.ir import FileFacts

        return FileFacts(self.path, self.module, self.is_package, error=(1, why), foreign=foreign)
