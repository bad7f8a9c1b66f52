// biome-ignore-all lint/complexity/useLiteralKeys: a command with both quotes is read as a template.
/** The commands of docs/command-line.md. */
import {
  client,
  fenceOf,
  policies,
  recorded,
  tools,
  versions,
  writeKeyedAudit,
  writeRun,
} from './reader-files.ts';
import type { PageRows } from './rows.ts';
import {
  answered,
  checked,
  guarded,
  installed,
  listening,
  login,
  overHttp,
  redis,
  relay,
} from './shared-rows.ts';

export const commandLine: PageRows = {
  files: {
    ...tools,
    ...policies,
    'src/tools.js': tools['tools.mjs'].replace(/[\s\S]*/, 'export {};'),
    'rules.yaml': fenceOf('docs/coding-agents.md', '# rules.yaml'),
    'event.json':
      '{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}',
    'guard.yaml': 'network: [api.anthropic.com]\n',
  },
  commands: {
    'npx host-tools list --host-tools tools.yaml': { says: /^greet/m },
    [`npx host-tools call git_status --host-tools tools.yaml --input '{"path":"."}'`]: {
      files: {
        'git.yaml':
          'tools:\n  - { name: git_status, description: Status., module: ./tools.mjs, parameters: { type: object } }\n',
      },
      instead: { 'tools.yaml': 'git.yaml' },
      says: /clean/,
    },
    'npx host-tools policy test policies.yaml --host-tools tools.yaml': { says: /^ok/ },
    'npx host-tools init my-tools': {},
    'npx host-tools list --host-tools tools.yaml --profile writer': {},
    "npx host-tools search 'push a branch' --host-tools tools.yaml --top 1": {},
    [`npx host-tools call greet --host-tools tools.yaml --input '{"name":"Ann"}' --json`]: {},
    [`echo '{"name":"Ann"}' | npx host-tools call greet --host-tools tools.yaml --input - | jq .output`]:
      { instead: { '| jq .output': '' }, says: /Hello, Ann!/ },
    [`npx host-tools explain push --host-tools tools.yaml --input '{"branch":"main"}'`]: {},
    'npx host-tools explain greet --host-tools tools.yaml --profile writer': {},
    'npx host-tools validate tools.yaml src/tools.js': {
      files: {
        'src/tools.js':
          "import { defineTool } from 'host-tools';\nexport const a = defineTool({ name: 'a', description: 'Answers.', parameters: { type: 'object' }, handler: () => ({ a: 1 }) });\n",
        'package.json': '{ "type": "module" }',
      },
      before: ({ run }) => run('npm install host-tools').then(() => {}),
      says: /passed src\/tools\.js/,
    },
    'npx host-tools tools diff old/tools.yaml tools.yaml': { files: versions, exit: 1 },
    'npx host-tools profiles diff reader writer --host-tools tools.yaml': {},
    'npx host-tools policy test policies.yaml --host-tools tools.yaml --coverage --fail-under 80': {
      exit: 1,
    },
    'npx host-tools policy backtest --host-tools tools.yaml --from calls.jsonl --rules new.yaml': {
      files: recorded,
    },
    'npx host-tools replay run.jsonl': { before: writeRun, says: /2 events, the same result/ },
    'npx host-tools serve tools.yaml --profile reader': answered,
    'npx host-tools serve tools.yaml --http 8931': overHttp,
    'npx host-tools gateway import': { files: client, says: /gateway\.yaml with 1 server/ },
    'npx host-tools gateway import ~/.cursor/mcp.json': {
      // The first command has written the file, and no command writes over one.
      before: ({ run }) =>
        run('rm gateway.yaml; mkdir -p ~/.cursor; cp .mcp.json ~/.cursor/mcp.json').then(() => {}),
      says: /gateway\.yaml with 1 server/,
    },
    'npx host-tools gateway login mail --host-tools gateway.yaml': login,
    'npx host-tools inspect --host-tools tools.yaml': { until: listening },
    'npx host-tools inspect --host-tools tools.yaml --port 0 --allow-calls': { until: listening },
    'npx host-tools hook claude-code --host-tools rules.yaml < event.json': {
      says: /"permissionDecision":"ask"/,
    },
    'npx host-tools hook install claude-code': installed,
    'npx host-tools hook check claude-code': {
      before: ({ run }) => run('npx host-tools hook install claude-code').then(() => {}),
      ...checked,
    },
    'npx host-tools guard --host-tools guard.yaml -- claude': guarded,
    'npx host-tools acp --host-tools rules.yaml -- gemini --acp': {
      instead: { 'gemini --acp': 'cat < /dev/null' },
    },
    'npx host-tools relay': relay,
    [`RELAY_KEY=$(openssl rand -hex 32) npx host-tools relay --host-key RELAY_KEY --allowed-origin https://app.example.com --host-tools tools.yaml --store ${redis}`]:
      { ...relay, until: /"url"|listens|listening/ },
    [`npx host-tools worker --redis ${redis} --queue reports --host-tools tools.yaml`]: {
      until: /Serving `reports`/,
    },
    'REDIS_URL=rediss://… npx host-tools worker --redis REDIS_URL --queue reports --host-tools tools.yaml --concurrency 4':
      { instead: { 'rediss://…': redis }, until: /Serving `reports`/ },
    'DATABASE_URL=postgres://… npx host-tools store migrate DATABASE_URL': {
      before: ({ run }) => run('npm install ioredis').then(() => {}),
      instead: { 'postgres://…': redis },
      says: /needs no tables/,
    },
    [`npx host-tools store copy file:./approvals ${redis}`]: {
      before: ({ run }) => run('mkdir -m 700 approvals').then(() => {}),
      says: /0 waiting approvals copied/,
    },
    [`npx host-tools store status ${redis}`]: { says: /answers, and needs no tables/ },
    'npx host-tools mcp pin --pins pins.json -- npx -y @modelcontextprotocol/server-memory': {
      exit: 1,
      says: /create_entities/,
    },
    'npx host-tools mcp pin https://tools.example/mcp --pins pins.json --header authorization=TOOLS_AUTHORIZATION':
      {
        instead: { 'npx host-tools': 'TOOLS_AUTHORIZATION=x npx host-tools' },
        exit: 1,
        says: /read_note/,
      },
    [`npx host-tools audit verify --store ${redis}`]: { says: /0 lines in 0 chains/ },
    'npx host-tools audit verify audit.jsonl --head 5f1c… --key-file audit.secret': {
      before: writeKeyedAudit,
      instead: { '5f1c…': '$(cut -d" " -f3 heads.txt)' },
    },
  },
};
