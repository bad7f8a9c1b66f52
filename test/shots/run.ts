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
import { startBusyHost } from './busy-host.ts';
import { look } from './look.ts';
import { smallerPng } from './smaller-png.ts';

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
  writeFileSync(join(root, 'docs/images/inbox.png'), smallerPng(await page.screenshot()));
  host.kill();
  await once(host, 'close');
}

/** The page of the inspector in the docs: thirty calls, and a rule that is made from one of them. */
async function inspector(browser: Browser): Promise<void> {
  const host = await startBusyHost();
  kept.push(() => host.close());
  const page = await browser.newPage({
    viewport: { width: 1_200, height: 720 },
    deviceScaleFactor: 1.5,
  });
  await page.goto(host.pages.inspector);
  await page.getByRole('option').filter({ hasText: 'A-21' }).click();
  await page.getByRole('button', { name: 'Make a rule' }).click();
  await page.getByLabel('order', { exact: true }).uncheck();
  await page.getByLabel('amount', { exact: true }).check();
  await page.getByLabel('How amount is tested').selectOption('gte');
  await page.getByText('recorded calls would change').waitFor();
  // The maker begins at the top of the pane.
  await page.evaluate("document.querySelector('.detail').scrollTop = 90");
  await page.mouse.move(0, 0);
  const picture = await page.screenshot({ animations: 'disabled' });
  writeFileSync(join(root, 'docs/images/inspector.png'), smallerPng(picture));
}

/** The page of approvals in the docs: two questions of one program. */
async function program(browser: Browser): Promise<void> {
  const host = await startBusyHost();
  kept.push(() => host.close());
  const page = await browser.newPage({
    viewport: { width: 1_000, height: 860 },
    deviceScaleFactor: 1.5,
  });
  await page.goto(host.pages.inbox);
  await page.getByRole('option').filter({ hasText: 'A-17' }).click();
  await page.getByText('Program, at line 5').waitFor();
  await page.mouse.move(0, 0);
  const picture = await page.screenshot({ animations: 'disabled' });
  writeFileSync(join(root, 'docs/images/program.png'), smallerPng(picture));
}

const [what, ...only] = process.argv.slice(2);
try {
  const browser = await launchChromium();
  kept.push(() => browser.close());
  if (what === undefined) {
    await readme(browser);
    await inspector(browser);
    await program(browser);
  } else if (what === '--look') await look(browser, join(root, '.cache/shots/look'), only);
  else throw new Error(`expected nothing or --look [WORD…], got ${what}`);
} finally {
  for (const step of kept.reverse()) await step();
}
