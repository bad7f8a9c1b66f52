/**
 * Runs the official conformance suite's tool scenarios against the fixture:
 * `tsx test/surfaces/mcp/conformance/run.ts [--next] [SCENARIO...]`. Exits 1 when one fails. The
 * suite needs Node 22 or newer, which npm brings. The installed release knows the 2025 era alone;
 * `--next` runs a pre-release of it, by npm, for the 2026 era.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startFixture } from './fixture.ts';

/**
 * Every server scenario of the suite that is about tools, or that any server must pass. Prompts,
 * resources and completion are no part of a tool server.
 */
const scenarios = [
  'server-initialize',
  'ping',
  'logging-set-level',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'json-schema-2020-12',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

/**
 * Scenarios of the pre-release for the 2026 era. Its others are about prompts, resources, tasks,
 * and tools that ask while they run, which that era has no room for here.
 */
const nextScenarios = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'http-header-validation',
];
const nextSuite = '@modelcontextprotocol/conformance@0.2.0-alpha.12';

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const suite = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
const next = process.argv.includes('--next');
const newEnough = Number(process.versions.node.split('.', 1)[0]) >= 22;

/** What a scenario found; undefined where the suite itself did not get so far. */
async function runScenario(
  url: string,
  scenario: string,
  output: string,
): Promise<{ readonly checks: readonly Check[]; readonly said: string }> {
  const words = ['server', '--url', url, '--scenario', scenario, '--output-dir', output];
  const node = newEnough ? [] : ['-p', 'node@24'];
  const args = next
    ? [
        '-y',
        ...node,
        '-p',
        nextSuite,
        '--',
        'conformance',
        ...words,
        '--spec-version',
        '2026-07-28',
      ]
    : ['-y', ...node, '--', 'node', suite, ...words];
  const child = spawn('npx', args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  const folder = (await readdir(output).catch(() => [])).find((name) => name.includes(scenario));
  const file =
    folder === undefined
      ? undefined
      : await readFile(join(output, folder, 'checks.json'), 'utf8').catch(() => undefined);
  return { checks: file === undefined ? [] : (JSON.parse(file) as Check[]), said };
}

const only = process.argv.slice(2).filter((word) => word !== '--next');
const output = await mkdtemp(join(tmpdir(), 'host-tools-conformance-'));
const fixture = await startFixture();
let failed = 0;
try {
  for (const scenario of (next ? nextScenarios : scenarios).filter(
    (name) => only.length === 0 || only.includes(name),
  )) {
    const { checks, said } = await runScenario(fixture.url, scenario, join(output, scenario));
    const count = (status: string): number =>
      checks.filter((check) => check.status === status).length;
    const isFailed = count('FAILURE') > 0 || count('SUCCESS') === 0;
    if (isFailed) failed++;
    process.stdout.write(
      `${isFailed ? 'FAIL' : 'ok  '} ${scenario.padEnd(32)} ${count('SUCCESS')} passed, ` +
        `${count('FAILURE')} failed, ${count('WARNING')} warnings\n`,
    );
    for (const { id, status, errorMessage } of checks)
      if (status === 'FAILURE' || status === 'WARNING')
        process.stdout.write(`     ${status} ${id}: ${errorMessage ?? ''}\n`);
    if (checks.length === 0) process.stdout.write(`${said}\n`);
  }
} finally {
  await fixture.close();
  await rm(output, { recursive: true, force: true });
}
process.stdout.write(failed === 0 ? 'Every scenario passed.\n' : `${failed} scenarios failed.\n`);
process.exitCode = failed === 0 ? 0 : 1;
