/** Rows that several pages share. */
import { hello } from './reader-files.ts';
import type { Row } from './rows.ts';

export const listening = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/;
export const answered: Row = { input: hello, until: /"serverInfo"/ };
export const overHttp: Row = { instead: { '8931': '0' }, until: listening };
/** The ports of the pages may be taken on this machine. */
export const relay: Row = {
  instead: { 'host-tools relay': 'host-tools relay --port 0' },
  until: listening,
};
export const redis = 'redis://127.0.0.1:6379';
export const installed: Row = { says: /rules\.yaml/ };
/** The agent of this test does not run hooks. */
export const checked: Row = {
  exit: 1,
  says: /^ok {2}[\s\S]*The hook is not active in Claude Code/m,
};
export const mcp = 'https://tools.example/mcp';
/** The server that stands for `mail` asks for no login. */
export const login: Row = {
  files: { 'gateway.yaml': JSON.stringify({ mcpServers: { mail: { url: mcp } } }) },
  says: /does not ask for a login/,
};
export const guarded: Row = {
  files: { 'guard.yaml': 'network: [api.anthropic.com]\n' },
  // Some machines let nobody start a sandbox.
  instead: { claude: 'claude; test $? -lt 2' },
  says: /the agent runs|bubblewrap|bwrap|sandbox/,
};

/** Servers of the docs that do not exist, by what stands for them. */
export const addresses = { redis, mcp } as const;
