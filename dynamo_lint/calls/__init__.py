"""Call edges: which functions a call, a decorator, a hook or a special method runs, and what it passes."""
