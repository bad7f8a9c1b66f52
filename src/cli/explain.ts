/** `explain`: shows what would happen to a call, using the code that decides about real calls. */
import type {
  Effect,
  Explanation,
  JsonObject,
  JsonValue,
  JudgedOrigin,
  QuotaLevel,
} from '../core.ts';
import { type Command, worldOptions } from './command.ts';
import { untilInterrupted } from './fault.ts';
import { columns, headline, jsonText, printable } from './printable.ts';
import { readInput } from './read-text.ts';

export const explain: Command = {
  name: 'explain',
  usage: 'NAME [--input JSON|@FILE|-]',
  summary: 'show what would happen to a call, without running it',
  notes: [
    'Without --input, it shows only what does not depend on the input.',
    'The exit code is 0 even if the call would be refused, and 1 for a tool that does not exist.',
  ],
  options: [...worldOptions, 'input'],
  operands: ['NAME'],
  async run({ io, screen, options, operands: [name = ''], world }) {
    // This happens before any module runs.
    const input = options.input === undefined ? undefined : await readInput(options.input, io);
    const loaded = await world();
    loaded.requireRules();
    const session = loaded.session();
    const explanation = await untilInterrupted(session.explain(name, input), io.signal);
    const unknown = loaded.unknownTool(name);
    if (unknown !== undefined) screen.note(unknown);
    return {
      exit: unknown === undefined ? 0 : 1,
      text: textOf(name, explanation),
      json: explanation,
    };
  },
};

function textOf(name: string, explanation: Explanation): string {
  const { decision, ruleId, source, code, steps } = explanation;
  const rows = toolRows(explanation);
  const refusal = decision === undefined ? steps.at(-1)?.message : undefined;
  if (typeof refusal === 'string')
    rows.push(
      ...refusal.split('\n').map((line, index) => [index === 0 ? 'why' : '', printable(line)]),
    );
  if (decision?.effect === 'deny') {
    rows.push(['reason', printable(decision.reason)]);
    if (decision.message !== undefined) rows.push(['message', printable(decision.message)]);
  }
  if (decision?.effect === 'ask' && decision.prompt !== undefined)
    rows.push(['asks', printable(decision.prompt)]);
  if (ruleId !== undefined) rows.push(['rule', printable(ruleId)]);
  if (source !== undefined) rows.push(['decided by', printable(source)]);
  if (code !== undefined && decision !== undefined && code !== 'policy_denied')
    rows.push(['code', code]);
  for (const [index, origin] of (explanation.origins ?? []).entries())
    rows.push([index === 0 ? 'origins' : '', printable(originText(origin))]);
  for (const [index, { ruleId: id, message }] of (explanation.ruleFaults ?? []).entries())
    rows.push([index === 0 ? 'dead rules' : '', printable(`${id}: ${message}`)]);
  for (const [index, level] of (explanation.quotas ?? []).entries())
    rows.push([index === 0 ? 'quotas' : '', printable(quotaText(level))]);
  // A single step that decides is already shown by the rows above.
  const [only] = steps;
  const isShownAbove =
    steps.length === 1 &&
    only !== undefined &&
    only.shadow !== true &&
    (only.message !== undefined || only.effect !== undefined);
  const said = isShownAbove ? [] : steps.map(stepText);
  return [
    printable(name),
    ...columns(rows, '  '),
    ...(said.length === 0
      ? []
      : ['  steps', ...said.map((line, index) => `    ${index + 1}. ${line}`)]),
  ].join('\n');
}

/** What holds whatever the input is. */
function toolRows(explanation: Explanation): string[][] {
  const { executor, visible, hiddenBy, deprecated, budget, unlockedBy } = explanation;
  const rows: string[][] = [
    ['outcome', outcomeOf(explanation)],
    ['visible', visible ? 'yes' : `no${hiddenBy === undefined ? '' : `, ${printable(hiddenBy)}`}`],
  ];
  if (deprecated !== undefined) {
    const { since, use, message } = deprecated;
    rows.push(['deprecated', printable(`since ${since}`)]);
    if (use !== undefined) rows.push(['use instead', printable(use)]);
    if (message !== undefined) rows.push(['', printable(message)]);
  }
  if (executor !== undefined && executor !== 'inline') rows.push(['runs in', executor]);
  if (budget !== undefined) rows.push(['long outputs', budgetText(budget)]);
  if (unlockedBy !== undefined) rows.push(['unlocked by', unlockedBy.map(printable).join(', ')]);
  return rows;
}

const budgetTexts = {
  head: 'their beginning is shown',
  head_tail: 'both ends are shown',
  offload: 'they are kept, and read_tool_output reads them',
  refuse: 'they are refused',
} as const satisfies Record<NonNullable<Explanation['budget']>['strategy'], string>;

function budgetText({
  maxOutputChars,
  strategy,
  notOffloaded,
}: NonNullable<Explanation['budget']>): string {
  const lost =
    notOffloaded === undefined
      ? ''
      : `; not kept, since this session cannot call read_tool_output: ${printable(notOffloaded)}`;
  return `over ${maxOutputChars} characters, ${budgetTexts[strategy]}${lost}`;
}

/** `refunds (registry): 60 of 100 used, this call needs 50`. */
function quotaText({ quota, source, used, max, amount }: QuotaLevel): string {
  return `${quota} (${source}): ${used} of ${max} used, this call needs ${amount}`;
}

/** `registry, rule no-main: deny (reason)`. */
function stepText({
  stage,
  source,
  ruleId,
  effect,
  reason,
  code,
  note,
  message: _message,
  details: _details,
  retryable: _retryable,
  shadow,
  wouldBe,
  ...rest
}: JsonObject): string {
  const who = [stage ?? source, ...(ruleId === undefined ? [] : [`rule ${worded(ruleId)}`])]
    .map(worded)
    .join(', ');
  const what = [effect ?? code ?? note, ...(Object.keys(rest).length === 0 ? [] : [jsonText(rest)])]
    .filter((one) => one !== undefined)
    .map(worded);
  if (shadow === true) return `${who}: ${shadowText(effect ?? note, wouldBe)}`;
  return `${who}: ${what.join(' ')}${reason === undefined ? '' : ` (${worded(reason)})`}`;
}

/** `shadow deny; enforced, the call would be denied`. */
function shadowText(said: JsonValue | undefined, wouldBe: JsonValue | undefined): string {
  return wouldBe === undefined
    ? `shadow rule, ${worded(said)}`
    : `shadow ${worded(said)}; if it were enforced, the call ${outcomes[wouldBe as Effect]}`;
}

function worded(value: JsonValue | undefined): string {
  return typeof value === 'string' ? printable(value) : jsonText(value);
}

const outcomes = {
  allow: 'would run',
  ask: 'would ask a person',
  deny: 'would be denied',
} as const satisfies Record<Effect, string>;

function outcomeOf({ decision, code }: Explanation): string {
  return decision === undefined ? `would be refused: ${code}` : outcomes[decision.effect];
}

/** Maximum characters of a value that is shown with its origin. */
const longestValue = 60;

/** `to "US133": untrusted, seen in read_file`. It may contain what a terminal obeys. */
function originText({ path, value, origin, seen }: JudgedOrigin): string {
  const where = seen === undefined ? '' : `, seen in ${seen.toolName}`;
  return `${path} ${headline(jsonText(value), longestValue)}: ${origin}${where}`;
}
