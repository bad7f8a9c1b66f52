/** The files that `init` writes. */
import { packageVersion } from '../../values/packages/own-version.ts';
import type { ProjectFiles } from './create-project.ts';

/** What to run next, in the folder of the project. */
export const nextCommands: readonly string[] = ['npm install', 'npm test', 'npm run validate'];

/** The packages of the project, with their ranges; a test compares them with our package.json. */
export const starterPackages = {
  '@modelcontextprotocol/server': '^2.4.0',
  'host-tools': `^${packageVersion}`,
} as const;

/** @param folderName makes the name of the project's package */
export function starterFiles(folderName: string): ProjectFiles {
  const name = packageNameOf(folderName);
  return {
    'package.json': json({
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      engines: { node: '>=20.19' },
      scripts: {
        test: 'node --test',
        validate: 'host-tools validate host-tools.yaml',
        serve: 'host-tools serve --host-tools host-tools.yaml --profile agent',
      },
      dependencies: starterPackages,
    }),
    'host-tools.yaml': toolsFile,
    'tools/deploy.js': handler,
    'test/deploy.test.js': test,
    '.mcp.json': json({
      mcpServers: {
        [name]: {
          command: 'npx',
          args: ['host-tools', 'serve', '--host-tools', 'host-tools.yaml', '--profile', 'agent'],
        },
      },
    }),
    'README.md': readme(name),
  };
}

const longestName = 100;

/** A name that npm accepts and that is not the name of one of the project's own packages. */
function packageNameOf(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, longestName);
  if (name === '') return 'my-tools';
  return name in starterPackages || /^(?:node_modules|favicon\.ico)$/.test(name)
    ? `${name}-project`
    : name;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const toolsFile = `# yaml-language-server: $schema=./node_modules/host-tools/host-tools.schema.json
tools:
  - name: deploy
    description: Deploys a service to an environment.
    module: ./tools/deploy.js
    parameters:
      type: object
      properties:
        service: { type: string, minLength: 1, description: Name of the service. }
        environment: { type: string, enum: [staging, production] }
      required: [service, environment]
      additionalProperties: false
    timeoutMs: 30000

profiles:
  agent:
    tools: [deploy]
    rules:
      # Checked before every call; the handler never runs for production.
      - id: no-production
        effect: deny
        tools: deploy
        when: { environment: production }
        reason: production_needs_a_person
`;

const handler = `\
/** Put your own code here. The input has passed the schema and the rules of host-tools.yaml. */
export function deploy({ service, environment }) {
  return { deployed: service, to: environment };
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HostToolRegistry } from 'host-tools';
import { loadHostTools } from 'host-tools/config';

const registry = new HostToolRegistry();
const file = fileURLToPath(new URL('../host-tools.yaml', import.meta.url));
const { failed } = await loadHostTools(file, registry);
const session = registry.createSession({ sessionId: 'test', profile: 'agent' });

test('the file loads completely', () => {
  assert.deepEqual(failed, []);
});

test('a deployment to staging runs', async () => {
  const result = await session.call('deploy', { service: 'web', environment: 'staging' });
  assert.deepEqual(result.output, { deployed: 'web', to: 'staging' });
});

test('a deployment to production is denied by the rule', async () => {
  const result = await session.call('deploy', { service: 'web', environment: 'production' });
  assert.equal(result.success, false);
  assert.equal(result.error.code, 'policy_denied');
  assert.equal(result.error.ruleId, 'no-production');
});
`;

function readme(name: string): string {
  return `# ${name}

One tool, \`deploy\`, with a rule that keeps agents away from production. The tool, its profile and
its rule are in \`host-tools.yaml\`, its code is in \`tools/deploy.js\`.

\`\`\`sh
${nextCommands.join('\n')}
\`\`\`

\`.mcp.json\` starts the server (\`npm run serve\`) for MCP clients that read such a file, for
example Claude Code.
The docs are in \`node_modules/host-tools/docs\`.
`;
}
