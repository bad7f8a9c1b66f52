/** The cookbook of rules: every call on the page comes out as the page says. */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readPolicyTable } from '../../src/cli/policy-table.ts';
import {
  type ApprovalRequest,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type Quota,
  type Rule,
  type ToolAnnotations,
} from '../../src/index.ts';
import { fencesOf, guidePages } from './pages.ts';

/** The tools of the page. */
const tools: Readonly<Record<string, { source?: string; annotations?: ToolAnnotations }>> = {
  shell: {},
  read_file: { annotations: { readOnly: true } },
  write_file: {},
  query: {},
  archive: {},
  read_order: { annotations: { readOnly: true } },
  send_mail: {},
  post_message: {},
  refund: {},
  pay: {},
  check_code: {},
  deploy: {},
  drop_table: { annotations: { destructive: true } },
  fetch_page: {},
  admin_reload: {},
  docs_search: { source: 'mcp:docs' },
  page_add_item: { source: 'relay:ABCDEFGH' },
  page_clear: { source: 'relay:JKMNPQRS', annotations: { destructive: true } },
};

interface Row {
  readonly tool: string;
  readonly input: JsonObject;
  readonly principal: string | undefined;
  readonly surface: string | undefined;
  readonly facts: JsonObject;
  readonly outcome: string;
}

/** `` | `tool {json}` for `principal` via `surface` with `{facts}` | outcome | ``. */
const rowPattern =
  /^\| `(\w+) (\{.*?\})`(?: for `([^`]+)`)?(?: via `([^`]+)`)?(?: with `(\{[^`]*\})`)? \| (\w+) \|$/;

function rowsOf(section: string): Row[] {
  const [, table = ''] = /^\| call \| outcome \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(section) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((line) => {
      const match = rowPattern.exec(line);
      if (match === null) throw new Error(`Not a call with its outcome: ${line}`);
      const [, tool = '', input = '', principal, surface, facts = '{}', outcome = ''] = match;
      return {
        tool,
        input: JSON.parse(input) as JsonObject,
        principal,
        surface,
        facts: JSON.parse(facts) as JsonObject,
        outcome,
      };
    });
}

function registryOf(section: string): HostToolRegistry {
  const [fence] = fencesOf(section).filter(({ info }) => info === 'yaml');
  const { rules = [], quotas = [] } = parse(fence!.code) as { rules?: Rule[]; quotas?: Quota[] };
  const registry = new HostToolRegistry({ rules, quotas });
  for (const [name, { source, annotations }] of Object.entries(tools)) {
    const owner = source === undefined ? registry : registry.scope(source);
    owner.register(
      defineTool({
        name,
        description: 'A tool of the cookbook.',
        parameters: { type: 'object' },
        ...(annotations && { annotations }),
        handler: () => 'ran',
      }),
    );
  }
  return registry;
}

const page = guidePages().find(({ path }) => path === 'docs/rules-cookbook.md')!.text;
const sections = page
  .split(/^## (?=\d)/m)
  .slice(1)
  .map((text) => [text.split('\n', 1)[0]!, text.split(/^## /m)[0]!] as const);

test('there are twenty rules, numbered', () => {
  expect(sections.map(([title]) => Number.parseInt(title, 10))).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
});

describe.each(sections)('%s', (_, section) => {
  const rows = rowsOf(section);

  test('shows a call that runs or asks, and one that is held', () => {
    const outcomes = new Set(rows.map(({ outcome }) => outcome));
    expect(outcomes.size).toBeGreaterThan(1);
    expect(outcomes.has('asks') || outcomes.has('denied')).toBe(true);
  });

  test('each call comes out as the page says', async () => {
    const registry = registryOf(section);
    const found: string[] = [];
    for (const [at, { tool, input, principal, surface, facts }] of rows.entries()) {
      const asked: ApprovalRequest[] = [];
      const session = registry.createSession({
        // The calls without a principal are those of one session, as quotas count them.
        sessionId: principal ?? 's',
        facts,
        ...(principal !== undefined && { principal }),
        approver: (request) => {
          asked.push(request);
          return 'allow_once';
        },
      });
      const result = await session.call(tool, input, {
        ...(surface !== undefined && { surface: { name: surface } }),
      });
      if (!result.success) expect(result.error?.code, `call ${at}`).toBe('policy_denied');
      found.push(!result.success ? 'denied' : asked.length > 0 ? 'asks' : 'runs');
      await session.close();
    }
    expect(found).toEqual(rows.map(({ outcome }) => outcome));
    await registry.close();
  });

  test('each of its rules matches at least one of the calls', async () => {
    const registry = registryOf(section);
    for (const { tool, input, principal, facts, surface } of rows) {
      const session = registry.createSession({
        sessionId: 's',
        facts,
        ...(principal !== undefined && { principal }),
      });
      await session.call(tool, input, {
        ...(surface !== undefined && { surface: { name: surface } }),
      });
    }
    expect(registry.unusedRules()).toEqual([]);
    await registry.close();
  });
});

test('the table of cases at the end is what the rules of its tool decide', async () => {
  const table = fencesOf(page).findLast(({ info }) => info === 'yaml')!;
  const cases = await readPolicyTable('docs/rules-cookbook.md', table.code);
  const registry = registryOf(sections.find(([title]) => title === '11. Large refunds')![1]);
  const session = registry.createSession({ sessionId: 's' });
  for (const { tool, input, expect: expected } of cases) {
    const { decision } = await session.explain(tool, input);
    expect([input, decision?.effect]).toEqual([input, expected.decision]);
  }
  expect(cases).toHaveLength(3);
  await registry.close();
});
