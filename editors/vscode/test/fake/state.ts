// What a test sets before it starts the extension, and what it sees of it.
type Listener = (event: unknown) => unknown;

export class Disposable {
  static from(...parts: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      parts.forEach((part) => part.dispose());
    });
  }

  constructor(private readonly onDispose: () => unknown = () => undefined) {}

  dispose(): void {
    this.onDispose();
  }
}

export class EventEmitter {
  private readonly listeners = new Set<Listener>();

  readonly event = (listener: Listener, self?: unknown): Disposable => {
    const bound = listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };

  fire(event?: unknown): void {
    [...this.listeners].forEach((listener) => listener(event));
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export const fake = {
  settings: new Map<string, unknown>(),
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  folders: [] as string[],
  messages: [] as { message: string; actions: string[] }[],
  log: [] as string[],
  status: { text: "", tooltip: "" },
  view: { provider: undefined as unknown, visible: true },
  isTrusted: true,
  configurationChanged: new EventEmitter(),
  changed: new EventEmitter(),
};
