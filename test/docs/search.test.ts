/** The search of the site: who knows other products finds the page by their words. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boostDocument, processTerm } from '../../docs/.vitepress/search.ts';
import { guidePages, root } from './pages.ts';

interface Index {
  add(section: object): void;
  search(query: string, options: object): readonly { readonly id: string }[];
}

/** The library that the site searches with; it comes with VitePress. */
const MiniSearch = createRequire(createRequire(import.meta.url).resolve('vitepress/package.json'))(
  'minisearch',
) as new (
  options: object,
) => Index;

/** As VitePress builds it: one entry for each heading, with the headings above it. */
function siteIndex(): Index {
  const index = new MiniSearch({
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    processTerm,
  });
  for (const { path, text } of guidePages()) {
    if (!path.startsWith('docs/') || path === 'docs/index.md') continue;
    const page = path.slice('docs'.length, -'.md'.length);
    // Code is searched as well; a comment in it is no heading.
    const parts = text
      .replaceAll(/^```[\s\S]*?^```$/gm, (fence) => fence.replaceAll(/^#/gm, ' '))
      .split(/^(#{1,6}) (.+)$/m);
    const above: string[] = [];
    for (let at = 1; at < parts.length; at += 3) {
      const [level = '', title = '', body = ''] = parts.slice(at, at + 3);
      above.splice(level.length - 1, 9, title);
      index.add({
        id: `${page}#${at}`,
        title,
        titles: above.slice(0, -1),
        text: body.replaceAll(/\]\([^)]*\)/g, ' '),
      });
    }
  }
  return index;
}

/** As the search box of the theme asks. */
const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument,
};

describe('the search of the site', () => {
  const index = siteIndex();
  const pagesFor = (query: string): string[] =>
    index.search(query, searchOptions).map(({ id }) => id.slice(1).replace(/#.*/, ''));

  test.each([
    ['guardrails', 'policies-and-profiles'],
    ['rbac', 'policies-and-profiles'],
    ['access control', 'policies-and-profiles'],
    ['shadow mode', 'policies-and-profiles'],
    ['human in the loop', 'approvals'],
    ['HITL', 'approvals'],
    ['confirmation', 'approvals'],
    ['dry run', 'guard-a-tool'],
    ['allowlist', 'guard-a-tool'],
    ['kill switch', 'guard-a-tool'],
    ['feature flag', 'guard-a-tool'],
    ['audit trail', 'audit'],
    ['compliance', 'keep-an-audit'],
    ['PII', 'events'],
    ['redaction', 'events'],
    ['rate limit', 'composition-and-limits'],
    ['throttling', 'composition-and-limits'],
    ['mutex', 'composition-and-limits'],
    ['spending limit', 'quotas'],
    ['prompt injection', 'origins'],
    ['taint tracking', 'origins'],
    ['isolation', 'sandboxes'],
    ['retry', 'idempotency'],
    ['tool retrieval', 'many-tools'],
    ['large output', 'offload'],
    ['context window', 'offload'],
    ['observability', 'telemetry'],
    ['monitoring', 'telemetry'],
    ['policy engine', 'cedar-and-opa'],
    ['mcp proxy', 'gateway'],
    ['cassette', 'testing'],
    ['structured output', 'results-and-content'],
    ['function calling', 'tools'],
  ])('%s leads to %s', (query, page) => {
    // The results that one sees without scrolling.
    expect(pagesFor(query).slice(0, 5)).toContain(page);
  });

  test('shows decisions after all guides', () => {
    for (const query of ['approval', 'hook', 'origins', 'sandbox', 'relay']) {
      const pages = pagesFor(query).slice(0, 16);
      expect(
        pages.filter((page) => page.startsWith('decisions/')),
        query,
      ).toEqual([]);
    }
  });

  test('is set up in the site', () => {
    const config = readFileSync(join(root, 'docs/.vitepress/config.ts'), 'utf8');
    expect(config).toContain(
      'miniSearch: { options: { processTerm }, searchOptions: { boostDocument } }',
    );
  });
});
