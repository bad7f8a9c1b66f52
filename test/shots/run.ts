/**
 * Takes the pictures of the README and the docs from the running pages: `npm run shots`. It needs
 * Chromium. `npm run shots -- --look [WORD…]` takes pictures of all pages with work on them, light and
 * dark, wide and narrow, into `.cache/shots/look`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../examples/chromium.ts';
import { look } from './look.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The first example of README.md, as a person saves it. */
function refunds(): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, code = ''] = /\n```ts\n(.*?)\n```\n/s.exec(readme) ?? [];
  return code;
}

const kept: (() => unknown)[] = [];

/** The page of approvals in the README: what its first example shows. */
async function readme(browser: Browser): Promise<void> {
  // The package imports itself by its own name from every folder that is its own.
  const folder = join(root, '.cache/shots/readme');
  mkdirSync(folder, { recursive: true });
  kept.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'refunds.mjs'), refunds());
  const host = spawn(process.execPath, ['refunds.mjs'], { cwd: folder, stdio: 'inherit' });
  kept.push(() => host.kill());
  const page = await browser.newPage({
    viewport: { width: 1_000, height: 640 },
    deviceScaleFactor: 2,
  });
  for (let tries = 0; ; tries++)
    try {
      await page.goto('http://127.0.0.1:4042/');
      break;
    } catch (error) {
      if (tries > 50) throw error;
      await delay(100);
    }
  await page.getByText('A-18').first().waitFor();
  await page.screenshot({ path: join(root, 'docs/images/inbox.png') });
  host.kill();
  await once(host, 'close');
}

const [what, ...only] = process.argv.slice(2);
try {
  const browser = await launchChromium();
  kept.push(() => browser.close());
  if (what === undefined) await readme(browser);
  else if (what === '--look') await look(browser, join(root, '.cache/shots/look'), only);
  else throw new Error(`expected nothing or --look [WORD…], got ${what}`);
} finally {
  for (const step of kept.reverse()) await step();
}
