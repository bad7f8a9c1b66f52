/** A session's gates for the Claude Agent SDK: for the session's own tools, and for the agent's. */
export { type ClaudeAgent, type ClaudeAgentOptions, toClaudeAgent } from './to-claude-agent.ts';
