/** The words that name coding agents, apart from the agents: help needs no definitions of tools. */
export const agentNames: readonly string[] = ['claude-code', 'codex', 'gemini-cli'];
