/** What rules can test as `file_path@kind.*`, `command@kinds.*` and `command@changes.*`. */
export type FileKind =
  /** Keys, passwords and tokens. */
  | 'secret'
  /** Its name is like that of a secret, but it is an example, or the public half of a key. */
  | 'example'
  /** The guard itself, the agent's own settings and hooks, or a folder above one of them. */
  | 'guard'
  /** Hooks and settings of git. */
  | 'git'
  /** Configurations of MCP servers. */
  | 'mcp'
  /** Another program runs it, or what it names, by itself. */
  | 'runs-later'
  /** Agents take it for orders. */
  | 'instructions'
  /** The agent's own plans and notes. */
  | 'own-notes'
  /** Below the folder for temporary files, and not in the project. */
  | 'temporary'
  /** None of these. */
  | 'ordinary';

/** The kinds in words, for questions: "it is …". */
export const kindWords: Readonly<Record<FileKind, string>> = {
  secret: 'a file with secrets',
  example: 'an example of a file with secrets',
  guard: 'a file that guards the agent',
  git: 'a hook or a setting of git',
  mcp: 'a configuration of MCP servers',
  'runs-later': 'a file that another program runs by itself',
  instructions: 'a file that agents take for orders',
  'own-notes': "a file of the agent's own notes",
  temporary: 'a temporary file',
  ordinary: 'a file',
};
