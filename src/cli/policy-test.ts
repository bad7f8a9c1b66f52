/**
 * `policy test`: checks that each call of a table gets the expected decision. It decides as
 * `explain` does, and no handler runs.
 */
import { stateOf } from '../core/session/session.ts';
import { type Explanation, type HostToolRegistry, isMisuseError } from '../core.ts';
import { inspectRegistry, inspectSession } from '../extend.ts';
import { explain as explainCall } from '../parts/explain/explain.ts';
import {
  type Expectation,
  type Found,
  foundOf,
  meets,
  type Shadow,
} from '../surfaces/policy/policy-case.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { type Command, worldOptions } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import { type PolicyCase, readPolicyTable } from './policy-table.ts';
import { headline, jsonText, printable } from './printable.ts';
import { readTextFile } from './read-text.ts';
import type { World } from './world.ts';

interface Checked {
  readonly name: string;
  readonly line: number;
  readonly tool: string;
  readonly ok: boolean;
  /** Set if the tool is unknown and the case does not expect that. Such a case tests nothing. */
  readonly error?: string | undefined;
  /** For an unknown tool: the nearest names. */
  readonly didYouMean?: readonly string[] | undefined;
  readonly expected: Expectation;
  readonly found: Found;
}

/** Maximum characters of an input that is shown in place of a name. */
const longestInput = 60;

const maxTableBytes = 16 * 1_048_576;

export const policyTest: Command = {
  name: 'policy test',
  usage: 'FILE',
  summary: 'check a table of calls against expected decisions; nothing runs',
  notes: [
    'FILE is YAML or JSON: tests: [{ name?, tool, input?, profile?, facts?, principal?, ' +
      'surface?, said?, seen?, expect }].',
    'said: TEXT is what the user wrote before; seen: [{ tool, output }] is what the model was ' +
      'shown.',
    'expect is allow, ask, deny, hidden or an error code, or { decision, reason?, ruleId? }.',
    'The exit code is 1 if a case differs, or if its tool is unknown and it does not expect ' +
      'tool_not_found.',
    'With --coverage, it also lists the rules that no case exercises.',
  ],
  options: [...worldOptions, 'coverage', 'fail-under'],
  operands: ['FILE'],
  async run({ io, options, operands: [file = ''], world }) {
    const { coverage, failUnder } = options.policy;
    if (failUnder !== undefined && !coverage)
      throw usageFault('`--fail-under` is about coverage. Give `--coverage` too.');
    const text = await readTextFile(file, io, maxTableBytes).catch((error: unknown) => {
      throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
    });
    const cases = await readPolicyTable(file, text);
    const loaded = await world();
    loaded.requireRules();
    const checked: Checked[] = [];
    const lines: string[] = [];
    const log = coverage ? createCoverage(loaded.registry) : undefined;
    for (const one of cases) {
      const result = await check(one, file, loaded, io, log);
      checked.push(result);
      lines.push(lineOf(result, one, file), ...(result.found.shadow ?? []).map(shadowLine));
    }
    const failed = checked.filter(({ ok }) => !ok).length;
    const errors = checked.filter(({ error }) => error !== undefined).length;
    lines.push(summary(checked.length, failed - errors, errors));
    const unknown = checked.filter(({ error }) => error !== undefined).map(({ tool }) => tool);
    const hint = loaded.codeHint(unknown);
    if (hint !== undefined) lines.push(hint);
    const covered = log?.coverage();
    if (covered !== undefined) lines.push(...coverageText(covered, failUnder));
    const isUnder = covered !== undefined && covered.percent < (failUnder ?? 0);
    return {
      exit: failed > 0 || isUnder ? 1 : 0,
      text: lines.join('\n'),
      json: { passed: checked.length - failed, failed, cases: checked, coverage: covered },
    };
  },
};

async function check(
  {
    tool,
    input,
    name = tool,
    line,
    profile,
    facts,
    principal,
    surface,
    expect,
    ...given
  }: PolicyCase,
  file: string,
  world: World,
  io: CliIo,
  coverage: CoverageLog | undefined,
): Promise<Checked> {
  const where = `${file}:${line}`;
  const lost = profile === undefined ? undefined : world.profileFault(profile);
  if (lost !== undefined) throw failure(`${where}: ${lost.message}`);
  const session = openSession(world, { profile, facts, principal }, where);
  for (const text of given.said) session.said(text);
  for (const { tool: from, output } of given.seen)
    if (!inspectSession(session).seen(from, output)) {
      const hint = world.codeHint([from]);
      throw failure(
        `${where}: \`seen\` names the tool \`${from}\`, which does not exist.` +
          (hint === undefined ? '' : ` ${hint}`),
      );
    }
  const explaining = explainCall(stateOf(session), tool, input, surface);
  const explanation = await untilInterrupted(explaining, io.signal);
  coverage?.note(explanation);
  const found = foundOf(explanation);
  await session.close();
  const unknown = world.registry.get(tool) === undefined;
  const near = unknown ? world.nearest(tool) : [];
  const meant = unknown && !['tool_not_found', 'hidden'].includes(expect.decision);
  return {
    name,
    line,
    tool,
    ok: !meant && meets(expect, found),
    error: meant ? `unknown tool \`${tool}\`${meantText(near)}` : undefined,
    didYouMean: unknown ? near : undefined,
    expected: expect,
    found,
  };
}

/** If the session refuses an option, such as facts that are too deep, the table is wrong. */
function openSession(
  world: World,
  wish: Parameters<World['session']>[0],
  where: string,
): ReturnType<World['session']> {
  try {
    return world.session(wish);
  } catch (error) {
    throw isMisuseError(error) ? failure(`${where}: ${error.message}`) : error;
  }
}

/** `; did you mean …?`, or nothing. */
function meantText(near: readonly string[]): string {
  return near.length === 0 ? '' : `; did you mean ${near.map((one) => `\`${one}\``).join(' or ')}?`;
}

function lineOf(
  { line, tool, ok, error, didYouMean = [], expected, found }: Checked,
  { name, input }: PolicyCase,
  file: string,
): string {
  const place = printable(`${file}:${line}`);
  const given = input === undefined ? '' : ` ${headline(jsonText(input), longestInput)}`;
  const title = name === undefined ? `${printable(tool)}${given} (${place})` : printable(name);
  if (ok) return `ok    ${title}`;
  const where = name === undefined ? title : `${title} (${place}, \`${printable(tool)}\`)`;
  if (error !== undefined) return `ERROR ${where}: ${printable(error)}`;
  return (
    `FAIL  ${where}: expected ${shown(expected)}, got ` +
    `${shown(found)}${printable(meantText(didYouMean))}`
  );
}

function shadowLine({ ruleId, source, wouldBe }: Shadow): string {
  return printable(`      shadow rule ${ruleId} of ${source} would make it ${wouldBe}`);
}

function summary(all: number, differ: number, errors: number): string {
  const cases = `${all} ${all === 1 ? 'case' : 'cases'}`;
  const faults = [
    ...(differ === 0 ? [] : [`${differ} ${differ === 1 ? 'differs' : 'differ'}`]),
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? 'names' : 'name'} an unknown tool`]),
  ];
  return faults.length === 0 ? `${cases}, each as expected.` : `${cases}: ${faults.join(', ')}.`;
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

// Which rules the cases of `policy test` exercise.

/** A rule, by its id and the place where it is written. */
interface RuleName {
  readonly id: string;
  readonly layer: string;
}

/** How many of the rules the cases exercise. */
export interface Coverage {
  /** All rules: of the registry, its scopes and its profiles. */
  readonly rules: number;
  /** Rules that matched in a case. */
  readonly exercised: number;
  /** From 0 to 100; 100 if there are no rules. */
  readonly percent: number;
  readonly unexercised: readonly RuleName[];
}

/** Gathers the rules that matched. */
interface CoverageLog {
  /** Adds the results of a case. */
  note(explanation: Explanation): void;
  coverage(): Coverage;
}

/**
 * A rule is exercised by a case in which it matches. Once a rule denies a call, the rules after it
 * are not evaluated, and the case would pass without them.
 */
function createCoverage(registry: HostToolRegistry): CoverageLog {
  const open = new Map<string, RuleName>();
  for (const { id, layer } of inspectRegistry(registry).rules)
    open.set(keyOf(layer, id), { id, layer });
  const { size } = open;
  return {
    note({ steps }) {
      for (const { source, ruleId, effect, reason } of steps)
        if (effect !== undefined && reason !== 'rules_over_budget')
          open.delete(keyOf(source, ruleId));
    },
    coverage: () => ({
      rules: size,
      exercised: size - open.size,
      percent: size === 0 ? 100 : (100 * (size - open.size)) / size,
      unexercised: [...open.values()],
    }),
  };
}

function keyOf(layer: unknown, id: unknown): string {
  return JSON.stringify([layer, id]);
}

/** Lines for people. @param least The required percentage. */
function coverageText(
  { rules, exercised, percent, unexercised }: Coverage,
  least: number | undefined,
): readonly string[] {
  const missed = least !== undefined && percent < least ? `, expected at least ${least} %` : '';
  // Rounded down, so that 100 % means all of them.
  const head = `Coverage: ${exercised} of ${rules} rules, ${Math.floor(percent)} %${missed}.`;
  return [
    unexercised.length === 0 ? head : `${head} No case exercises:`,
    ...unexercised.map(({ id, layer }) => printable(`      ${id} of ${layer}`)),
  ];
}
