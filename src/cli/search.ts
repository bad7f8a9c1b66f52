/** `search`: finds tools by what they do, as an agent of the session would. */
import { type FoundTool, MisuseError } from '../core.ts';
import { type Answer, type Command, worldOptions } from './command.ts';
import { usageFault } from './fault.ts';
import { columns, headline, printable } from './printable.ts';

export const search: Command = {
  name: 'search',
  usage: 'QUERY [--top N]',
  summary: 'find tools by what they do, and say why',
  notes: [
    'It searches the tools that the session may show a model, and ranks them as `find_tools` does.',
    'The exit code is 1 if nothing is found.',
  ],
  options: [...worldOptions, 'top'],
  operands: ['QUERY'],
  async run({ options, operands: [query = ''], world }) {
    const loaded = await world();
    loaded.requireRules();
    const { top } = options;
    try {
      return answer(loaded.session().search(query, top === undefined ? {} : { limit: top }));
    } catch (error) {
      if (!(error instanceof MisuseError)) throw error;
      throw usageFault(printable(error.message));
    }
  },
};

function answer(found: readonly FoundTool[]): Answer {
  const rows = found.map(({ name, description, score, requiresApproval, why }) => [
    score.toFixed(2),
    printable(name),
    requiresApproval ? 'approval' : '-',
    printable(why.join(', ')),
    headline(description),
  ]);
  return {
    exit: found.length === 0 ? 1 : 0,
    text:
      rows.length === 0
        ? 'Nothing is found. Describe the task in other words.'
        : columns([['score', 'tool', 'asks', 'why', 'what it does'], ...rows]).join('\n'),
    json: { tools: found },
  };
}
