/** The page about versions of MCP has the figures and the reasons of the conformance suite's runner. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  expected,
  reasons,
  type Subject,
  total,
  versions,
} from '../surfaces/mcp/conformance/expected.ts';

const page = readFileSync(new URL('../../docs/mcp-versions.md', import.meta.url), 'utf8');
const subjects: readonly Subject[] = ['server', 'client', 'gateway'];

/** The page with other rows in the table with this head. */
function withRows(text: string, head: string, rows: readonly string[]): string {
  const start = text.indexOf(head);
  expect(start, head).toBeGreaterThan(0);
  const end = text.indexOf('\n\n', start);
  const [title, line] = text.slice(start, end).split('\n');
  return text.slice(0, start) + [title, line, ...rows].join('\n') + text.slice(end);
}

// `npx vitest run test/docs/mcp-versions.test.ts -u` writes both tables anew.
test('the figures and the reasons are those that the runner demands', async () => {
  const figures = versions.map((version) => {
    const cells = subjects.map((subject) => {
      const table = expected[subject][version];
      return table === undefined ? 'none' : `${table.held} of ${total(table)}`;
    });
    return `| ${[version === 'extension' ? 'extensions' : version, ...cells].join(' | ')} |`;
  });
  const why = reasons().map(([reason, names]) => `| ${reason} | ${names.join(', ')} |`);
  const made = withRows(page, '| version | server |', figures);
  await expect(withRows(made, '| reason |', why)).toMatchFileSnapshot('../../docs/mcp-versions.md');
});

test.each(['client', 'gateway'] as const)(
  'every scenario about authorization holds: %s',
  (subject) => {
    const failing = Object.values(expected[subject]).flatMap(({ not }) => Object.keys(not));
    expect(failing.filter((name) => name.startsWith('auth/'))).toEqual([]);
  },
);
