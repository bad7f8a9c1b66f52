import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { approvalsPage } from '../../../src/surfaces/pages/approvals-page.ts';
import { buildPage } from '../../../src/surfaces/pages/build-page.ts';
import { inspectorPage } from '../../../src/surfaces/pages/inspector-page.ts';

describe('a built page', () => {
  test.each([
    ['the inspector', inspectorPage],
    ['the approvals handler', approvalsPage],
  ])(
    'of %s is one text that loads nothing, and whose policy allows its own parts only',
    async (_, make) => {
      const { html, policy } = await make();
      const hashes = [...html.matchAll(/<(script|style)>([\s\S]*?)<\/\1>/g)].map(
        ([, kind, text = '']) =>
          `${kind}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      );
      expect(hashes).toHaveLength(2);
      for (const hash of hashes) expect(policy).toContain(hash);
      expect(policy).toMatch(/^default-src 'none'; /);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(html).not.toMatch(/<(?:link|script|img|iframe)[^>]+(?:src|href)="(?!data:)/);
      expect(html).not.toMatch(/@import|url\(\s*['"]?(?!data:)/);
    },
  );

  test('has the mark of the docs, in its head and as its icon', async () => {
    const files = ['docs/public/logo.svg', 'src/surfaces/pages/browser/parts/logo.svg'];
    const [docs, own] = files.map((name) =>
      readFileSync(new URL(`../../../${name}`, import.meta.url)),
    );
    expect(own).toEqual(docs);
    for (const make of [inspectorPage, approvalsPage]) {
      const { html } = await make();
      expect(html).toContain(
        `<link rel="icon" href="data:image/svg+xml;base64,${own?.toString('base64')}">`,
      );
      // The head shows the icon, and has no picture of its own.
      expect(html.split('data:image/svg+xml')).toHaveLength(2);
      expect(html).toContain('link[rel=icon]');
    }
  });

  test('brings the licences of what it contains', async () => {
    const { html } = await inspectorPage();
    expect(html).toContain('This page contains preact.\nThe MIT License (MIT)');
    expect(html).toContain('This page contains uplot.\nThe MIT License (MIT)');
  });

  test('names the file of a source that cannot be built', async () => {
    await expect(buildPage({ name: 'missing', title: 'x', packages: [] })).rejects.toThrow(
      'missing/main.tsx',
    );
  });
});
