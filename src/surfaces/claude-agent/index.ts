/** A session's gates for the Claude Agent SDK: its own tools, and those that the agent brings. */
export type { ClaudeAgent, ClaudeAgentOptions } from './to-claude-agent.ts';
export { toClaudeAgent } from './to-claude-agent.ts';
