/** The search of the site: who knows other products finds the page by their words. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boost, boostDocument, filter, fuzzy, processTerm } from '../../docs/.vitepress/search.ts';
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
  prefix: true,
  boost,
  fuzzy,
  boostDocument,
  filter,
};

describe('the search of the site', () => {
  const index = siteIndex();
  /** The pages of the results that the box shows, each once. */
  const pagesFor = (query: string): string[] => [
    ...new Set(
      index
        .search(query, searchOptions)
        .slice(0, 16)
        .map(({ id }) => id.slice(1).replace(/#.*/, '')),
    ),
  ];

  test.each([
    // Deciding
    ['guardrails', 'policies-and-profiles'],
    ['guardrail', 'policies-and-profiles'],
    ['rbac', 'policies-and-profiles'],
    ['roles', 'policies-and-profiles'],
    ['permission', 'policies-and-profiles'],
    ['permissions', 'policies-and-profiles'],
    ['authorization', 'policies-and-profiles'],
    ['access control', 'policies-and-profiles'],
    ['least privilege', 'policies-and-profiles'],
    ['multi-tenant', 'policies-and-profiles'],
    ['tenants', 'policies-and-profiles'],
    ['shadow mode', 'policies-and-profiles'],
    ['middleware', 'tools'],
    ['policy engine', 'cedar-and-opa'],
    ['policy as code', 'cedar-and-opa'],
    ['dry run', 'guard-a-tool'],
    ['allowlist', 'guard-a-tool'],
    ['allow list', 'guard-a-tool'],
    ['blocklist', 'guard-a-tool'],
    ['whitelist', 'guard-a-tool'],
    ['blacklist', 'guard-a-tool'],
    ['kill switch', 'guard-a-tool'],
    ['feature flag', 'guard-a-tool'],
    ['simulation', 'backtest'],
    // Approvals
    ['human in the loop', 'approvals'],
    ['human-in-the-loop', 'approvals'],
    ['HITL', 'approvals'],
    ['approve', 'approvals'],
    ['approval', 'approvals'],
    ['approvals', 'approvals'],
    ['confirmation', 'approvals'],
    ['escalation', 'approvals'],
    ['interrupt', 'approvals'],
    ['resume', 'approvals-later'],
    ['Postgres', 'stores'],
    ['four eyes', 'approvals-inbox'],
    ['separation of duties', 'approvals-inbox'],
    ['inbox', 'approvals-inbox'],
    ['webhook', 'approvals-inbox'],
    ['slack', 'slack-approvals'],
    // Limits
    ['rate limit', 'composition-and-limits'],
    ['rate limiting', 'composition-and-limits'],
    ['throttling', 'composition-and-limits'],
    ['mutex', 'composition-and-limits'],
    ['spending limit', 'quotas'],
    ['quota', 'quotas'],
    ['budget', 'quotas'],
    ['timeout', 'tools'],
    ['cancel', 'tools'],
    ['retry', 'idempotency'],
    ['retries', 'idempotency'],
    ['duplicates', 'idempotency'],
    // Safety
    ['prompt injection', 'origins'],
    ['data exfiltration', 'origins'],
    ['exfiltrate', 'origins'],
    ['jailbreak', 'origins'],
    ['taint tracking', 'origins'],
    ['tool poisoning', 'mcp-client'],
    ['rug pull', 'mcp-client'],
    ['swagger', 'openapi'],
    ['http api', 'openapi'],
    ['secrets', 'events'],
    ['PII', 'events'],
    ['redaction', 'events'],
    ['sandbox', 'sandboxes'],
    ['sandboxing', 'sandboxes'],
    ['isolation', 'sandboxes'],
    ['docker', 'sandboxes'],
    ['threat model', 'security-model'],
    // Records
    ['audit trail', 'audit'],
    ['audit log', 'audit'],
    ['SIEM', 'audit'],
    ['compliance', 'keep-an-audit'],
    ['GDPR', 'keep-an-audit'],
    ['observability', 'telemetry'],
    ['monitoring', 'telemetry'],
    ['dashboard', 'telemetry'],
    ['OpenTelemetry', 'telemetry'],
    ['debug', 'recipes'],
    // Agents and protocols
    ['Claude Code', 'coding-agents'],
    ['Codex', 'coding-agents'],
    ['auto-approve', 'coding-agents'],
    ['yolo', 'coding-agents'],
    ['Cursor', 'recipes'],
    ['Claude Desktop', 'recipes'],
    ['Next.js', 'recipes'],
    ['Express', 'recipes'],
    ['Vercel AI SDK', 'ai-sdk'],
    ['streaming', 'ai-sdk'],
    ['mcp proxy', 'gateway'],
    ['mcp gateway', 'gateway'],
    ['OAuth', 'gateway'],
    ['background jobs', 'fleet'],
    ['workers', 'fleet'],
    // Tools
    ['function calling', 'tools'],
    ['tool calling', 'tools'],
    ['tool retrieval', 'many-tools'],
    ['tool search', 'many-tools'],
    ['large output', 'offload'],
    ['context window', 'offload'],
    ['structured output', 'results-and-content'],
    ['json schema', 'schemas'],
    ['zod', 'schemas'],
    ['cassette', 'testing'],
    ['mock', 'testing'],
    ['quickstart', 'getting-started'],
    ['install', 'getting-started'],
  ])('%s leads to %s, and no decision comes before a guide', (query, page) => {
    const found = pagesFor(query);
    expect(found.slice(0, 3)).toContain(page);
    const decision = found.findIndex((one) => one.startsWith('decisions/'));
    expect(found.slice(decision === -1 ? found.length : decision)).toEqual(
      decision === -1 ? [] : found.filter((one) => one.startsWith('decisions/')),
    );
  });

  test('shows decisions after all guides', () => {
    for (const query of ['approval', 'hook', 'origins', 'sandbox', 'relay'])
      expect(
        pagesFor(query).filter((page) => page.startsWith('decisions/')),
        query,
      ).toEqual([]);
  });

  // The reference is made by `npm run docs`, so the index here lacks it.
  test('leads from a whole name to its page in the reference, and from no other word', () => {
    const reference = new MiniSearch({
      fields: ['title', 'titles', 'text'],
      storeFields: ['title', 'titles'],
      processTerm,
    });
    for (const title of ['defineTool()', 'runHostLoop()', 'toAiSdkTools()', 'Approvals'])
      reference.add({ id: `/api/x/${title}`, title, titles: [], text: `Says what ${title} does.` });
    for (const [page, text] of Object.entries({
      '/tools': 'defineTool defines a tool. Run it.',
      '/workflow': 'runHostLoop is a dry run.',
      '/approvals': 'Approvals approve.',
      '/ai-sdk': 'toAiSdkTools makes tools.',
    }))
      reference.add({ id: page, title: page.slice(1), titles: [], text });
    const first = (query: string) => reference.search(query, searchOptions)[0]?.id;
    expect(first('defineTool')).toBe('/api/x/defineTool()');
    expect(first('definetool')).toBe('/api/x/defineTool()');
    expect(first('toAiSdkTools')).toBe('/api/x/toAiSdkTools()');
    expect(first('dry run')).toBe('/workflow');
    expect(first('approvals')).toBe('/approvals');
    expect(first('define')).toBe('/tools');
  });

  test.each([
    ['approvals', 'approval'],
    ['approving', 'approve'],
    ['retried', 'retry'],
    ['policies', 'policy'],
    ['Secrets', 'secret'],
  ])('%s is found as %s is', (word, other) => {
    expect(processTerm(word)?.startsWith(processTerm(other) as string)).toBe(true);
  });

  test('is set up in the site', () => {
    const config = readFileSync(join(root, 'docs/.vitepress/config.ts'), 'utf8');
    expect(config).toMatch(
      /miniSearch: \{\s+options: \{ processTerm \},\s+searchOptions: \{ boost, boostDocument, filter, fuzzy \}/,
    );
  });
});
