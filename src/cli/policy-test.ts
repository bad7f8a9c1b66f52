/** `policy test`: a table of calls, judged by `explain`, against what is expected of each. Nothing runs. */
import { type Explanation, isMisuseError, type JsonValue } from '../index.ts';
import type { CliIo } from './cli-io.ts';
import { type Command, worldOptions } from './command.ts';
import { failure, messageOf, untilInterrupted } from './fault.ts';
import { type Expectation, type PolicyCase, readPolicyTable } from './policy-table.ts';
import { printable } from './printable.ts';
import { readTextFile } from './read-text.ts';
import { unknownProfile, type World } from './world.ts';

/** What a case came to. */
interface Found {
  readonly decision: string;
  readonly reason?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly source?: string | undefined;
  readonly hiddenBy?: string | undefined;
  readonly code?: string | undefined;
}

interface Checked {
  readonly name: string;
  readonly line?: number | undefined;
  readonly tool: string;
  readonly ok: boolean;
  readonly expected: Expectation;
  readonly found: Found;
}

const maxTableBytes = 16 * 1_048_576;

export const policyTest: Command = {
  name: 'policy test',
  usage: 'FILE',
  summary: 'check a table of calls against expected decisions; nothing runs',
  notes: [
    'FILE is YAML or JSON: tests: [{ name?, tool, input?, profile?, facts?, principal?, expect }].',
    'expect is allow, ask, deny, hidden or an error code, or { decision, reason?, ruleId? }. Exit code 1 when one differs.',
  ],
  options: worldOptions,
  operands: ['FILE'],
  async run({ io, operands: [file = ''], world }) {
    const text = await readTextFile(file, io, maxTableBytes).catch((error: unknown) => {
      throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
    });
    const cases = await readPolicyTable(file, text);
    const loaded = await world();
    loaded.requireRules();
    const checked: Checked[] = [];
    for (const one of cases) checked.push(await check(one, file, loaded, io));
    const failed = checked.filter(({ ok }) => !ok).length;
    const lines = checked.map((one) => lineOf(one, file));
    lines.push(
      failed === 0 ? `${checked.length} ${checked.length === 1 ? 'case' : 'cases'}, each as expected.` : `${failed} of ${checked.length} cases differ.`,
    );
    return { exit: failed === 0 ? 0 : 1, text: lines.join('\n'), json: { passed: checked.length - failed, failed, cases: checked } };
  },
};

async function check(
  { tool, input, name = tool, line, profile, facts, principal, expect }: PolicyCase,
  file: string,
  world: World,
  io: CliIo,
): Promise<Checked> {
  const where = line === undefined ? file : `${file}:${line}`;
  if (profile !== undefined && !world.profileIds().includes(profile)) throw failure(`${where}: ${unknownProfile(profile, world.profileIds())}`);
  const session = openSession(world, { profile, facts, principal }, where);
  const found = foundOf(await untilInterrupted(session.explain(tool, input), io.signal));
  await session.close();
  return { name, line, tool, ok: meets(expect, found), expected: expect, found };
}

/** What the session refuses, such as facts that are too deep, is the table's fault. */
function openSession(world: World, wish: Parameters<World['session']>[0], where: string): ReturnType<World['session']> {
  try {
    return world.session(wish);
  } catch (error) {
    throw isMisuseError(error) ? failure(`${where}: ${error.message}`) : error;
  }
}

function foundOf({ decision, ruleId, source, hiddenBy, code, steps }: Explanation): Found {
  const said: JsonValue | undefined = steps[steps.length - 1]?.reason;
  const reason = decision === undefined ? (typeof said === 'string' ? said : hiddenBy) : decision.effect === 'deny' ? decision.reason : undefined;
  return { decision: decision?.effect ?? (hiddenBy === undefined ? (code ?? 'allow') : 'hidden'), reason, ruleId, source, hiddenBy, code };
}

function meets({ decision, reason, ruleId }: Expectation, found: Found): boolean {
  const named = decision === found.decision || decision === found.code || (decision === 'hidden' && found.hiddenBy !== undefined);
  return named && (reason === undefined || reason === found.reason) && (ruleId === undefined || ruleId === found.ruleId);
}

function lineOf({ name, line, tool, ok, expected, found }: Checked, file: string): string {
  if (ok) return `ok    ${printable(name)}`;
  const where = printable(line === undefined ? file : `${file}:${line}`);
  return `FAIL  ${printable(name)} (${where}, \`${printable(tool)}\`): expected ${shown(expected)}, got ${shown(found)}`;
}

function shown({ decision, reason, ruleId, source, code }: Partial<Found>): string {
  const more = [
    ...(code === undefined || code === decision || code === 'policy_denied' ? [] : [code]),
    ...(reason === undefined ? [] : [`reason ${reason}`]),
    ...(ruleId === undefined ? [] : [`rule ${ruleId}`]),
    ...(source === undefined || source === 'default' ? [] : [`of ${source}`]),
  ];
  return printable(`${decision}${more.length === 0 ? '' : ` (${more.join(', ')})`}`);
}
