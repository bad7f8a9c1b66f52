/** `explain`: what a call would come to, by the code that decides it, without running it. */
import type { Explanation } from '../index.ts';
import { type Command, worldOptions } from './command.ts';
import { untilInterrupted } from './fault.ts';
import { columns, jsonText, printable } from './printable.ts';
import { readInput } from './read-json.ts';

export const explain: Command = {
  name: 'explain',
  usage: 'NAME [--input JSON|@FILE|-]',
  summary: 'tell what a call would come to, without running it',
  notes: ['Without --input only what does not depend on it is told. Exit code 0 also when the call would be refused; 1 for a tool that does not exist.'],
  options: [...worldOptions, 'input'],
  operands: ['NAME'],
  async run({ io, screen, options, operands: [name = ''], world }) {
    const loaded = await world();
    loaded.requireRules();
    const session = loaded.session();
    const input = options.input === undefined ? undefined : await readInput(options.input, io);
    const explanation = await untilInterrupted(session.explain(name, input), io.signal);
    const unknown = loaded.unknownTool(name);
    if (unknown !== undefined) screen.note(unknown);
    return { exit: unknown === undefined ? 0 : 1, text: textOf(name, explanation), json: explanation };
  },
};

function textOf(name: string, explanation: Explanation): string {
  const { visible, hiddenBy, unlockedBy, decision, ruleId, source, code, steps } = explanation;
  const rows: string[][] = [
    ['outcome', outcomeOf(explanation)],
    ['visible', visible ? 'yes' : `no${hiddenBy === undefined ? '' : `, ${printable(hiddenBy)}`}`],
  ];
  if (unlockedBy !== undefined) rows.push(['unlocked by', unlockedBy.map(printable).join(', ')]);
  if (decision?.effect === 'deny') {
    rows.push(['reason', printable(decision.reason)]);
    if (decision.message !== undefined) rows.push(['message', printable(decision.message)]);
  }
  if (decision?.effect === 'ask' && decision.prompt !== undefined) rows.push(['asks', printable(decision.prompt)]);
  if (ruleId !== undefined) rows.push(['rule', printable(ruleId)]);
  if (source !== undefined) rows.push(['decided by', printable(source)]);
  if (code !== undefined) rows.push(['code', code]);
  const said = steps.map((step) =>
    Object.entries(step)
      .map(([key, value]) => `${printable(key)}=${typeof value === 'string' ? printable(value) : jsonText(value)}`)
      .join(' '),
  );
  return [printable(name), ...columns(rows, '  '), ...(said.length === 0 ? [] : ['  steps', ...said.map((line, index) => `    ${index + 1}. ${line}`)])].join(
    '\n',
  );
}

function outcomeOf({ decision, code, hiddenBy }: Explanation): string {
  if (decision === undefined) return hiddenBy === undefined ? `would be refused: ${code}` : 'would be refused: it is hidden';
  switch (decision.effect) {
    case 'allow':
      return 'would run';
    case 'ask':
      return 'would ask a person';
    case 'deny':
      return 'would be denied';
  }
}
