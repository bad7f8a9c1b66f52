/**
 * The names of coding agents, in a separate file because the help does not need their definitions.
 */
export const agentNames: readonly string[] = ['claude-code', 'codex', 'gemini-cli'];
