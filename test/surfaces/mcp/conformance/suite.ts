/**
 * The official conformance suite: what it lists, what it finds, and whether that is what the tables
 * of `expected.ts` say. The suite needs Node 22 or newer, which npm brings as it brings the suite.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Expected, expected, type Subject, type Version } from './expected.ts';

const release = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const newEnough = Number(process.versions.node.split('.', 1)[0]) >= 22;
const withinMs = 240_000;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Where npm has put a Node that is new enough, and the suite. */
const found = promisify(execFile)('npx', [
  ...['-y', ...(newEnough ? [] : ['-p', 'node@24']), '-p', release],
  ...['-c', 'command -v node && command -v conformance'],
]);

/** Runs the suite's command. @returns what it said; it fails where a scenario does */
async function conformance(words: readonly string[]): Promise<string> {
  const [node = '', suite = ''] = (await found).stdout.trim().split('\n').slice(-2);
  const child = spawn(node, [suite, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  await new Promise((resolve) => child.once('close', resolve));
  return said;
}

/** The scenarios of one side, each with its versions of the protocol, or `extension`. */
export async function listed(
  side: 'server' | 'client',
): Promise<ReadonlyMap<string, readonly string[]>> {
  const said = await conformance(['list', `--${side}`]);
  const found = said.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm);
  const list = new Map([...found].map(([, name = '', tags = '']) => [name, tags.split(',')]));
  if (list.size === 0) throw new Error(`The suite lists nothing:\n${said}`);
  return list;
}

/** What to run: one side, in one version. */
export interface Leg {
  readonly subject: Subject;
  readonly side: 'server' | 'client';
  readonly version: Version;
  /** The options that name what is tried. */
  readonly target: readonly string[];
  /** The scenarios that count here. */
  readonly names: readonly string[];
}

/** Runs scenarios, and prints what they found. @returns how many did not end as the table says */
export async function runLeg(leg: Leg, only: readonly string[]): Promise<number> {
  const { subject, side, version, target } = leg;
  const names = leg.names.filter((name) => only.length === 0 || only.includes(name));
  if (names.length === 0) return 0;
  const output = await mkdtemp(join(tmpdir(), 'host-tools-conformance-'));
  const one = names.length === 1 ? names[0] : undefined;
  // The suite can run a version whole. Extensions of servers are in the suite `all` only.
  const group = version === 'extension' && side === 'client' ? 'extensions' : 'all';
  const which = [
    ...(one === undefined ? ['--suite', group] : ['--scenario', one]),
    ...(version === 'extension' ? [] : ['--spec-version', version]),
  ];
  try {
    const start = performance.now();
    const whole = await conformance([side, ...target, ...which, '--output-dir', output]);
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    process.stdout.write(`\n${subject}, ${version}: ${names.length} scenarios in ${seconds} s\n`);
    const table = expected[subject][version] ?? { held: 0, not: {} };
    let failed = 0;
    let held = 0;
    for (const name of names) {
      const folder = await folderOf(output, side, name);
      const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => '');
      const checks = JSON.parse((await read('checks.json')) || '[]') as Check[];
      const { faults, isHeld } = judge(name, checks, table);
      if (isHeld) held++;
      if (faults.length > 0) failed++;
      const mark = faults.length > 0 ? 'FAIL' : isHeld ? 'ok  ' : 'fail';
      const said = faults.length > 0 ? (await read('stderr.txt')).trim().split('\n') : [];
      const lines = [...faults, ...said].map((line) => `\n     ${line}`);
      process.stdout.write(`${mark} ${name}${lines.join('')}\n`);
    }
    const unknown = Object.keys(table.not).filter((key) => !leg.names.includes(keyed(key)));
    for (const key of unknown)
      process.stdout.write(`FAIL ${key}: the suite has no such scenario\n`);
    failed += unknown.length;
    if (only.length === 0 && held !== table.held) {
      failed++;
      process.stdout.write(`FAIL ${held} scenarios hold, the table says ${table.held}\n`);
    }
    if (failed > 0 && one !== undefined) process.stdout.write(`${whole}\n`);
    return failed;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

const keyed = (key: string): string => key.split(':', 1)[0] ?? '';

/** The folder of a scenario is its name and the time; that of `auth/x` is a folder in `auth`. */
async function folderOf(output: string, side: string, name: string): Promise<string> {
  const parts = (side === 'server' ? `server-${name}` : name).split('/');
  const last = parts.pop() ?? '';
  const folder = join(output, ...parts);
  const found = (await readdir(folder).catch(() => [])).find(
    (one) => one.startsWith(`${last}-`) && /^\d{4}-/.test(one.slice(last.length + 1)),
  );
  return join(folder, found ?? 'none');
}

/**
 * What is not as the table says. A scenario holds if one of its own checks has succeeded, none has
 * failed, and none warns.
 */
function judge(
  name: string,
  checks: readonly Check[],
  { not }: Expected,
): { readonly faults: readonly string[]; readonly isHeld: boolean } {
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const own = checks.filter(({ id, status }) => status === 'SUCCESS' && id !== 'wire-schema-valid');
  const problems: Check[] =
    bad.length > 0 || own.length > 0
      ? bad
      : [{ id: 'none', status: 'FAILURE', errorMessage: 'no check of its own was made' }];
  const keys = (id: string): readonly string[] => [name, `${name}:${id}`];
  const unexpected = problems.filter(({ id }) => !keys(id).some((key) => Object.hasOwn(not, key)));
  const passes = Object.keys(not).filter(
    (key) => keyed(key) === name && !problems.some(({ id }) => keys(id).includes(key)),
  );
  return {
    faults: [
      ...unexpected.map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? ''}`),
      ...passes.map((key) => `${key} holds: take it out of the table (${not[key]})`),
    ],
    isHeld: problems.length === 0,
  };
}
