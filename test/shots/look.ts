/** Pictures of every page with work on it, for the eyes: light and dark, on a desk and on a phone. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { type BusyHost, startBusyHost } from './busy-host.ts';

/** What is done on a page before its picture is taken. */
type Steps = (page: Page) => Promise<unknown>;

const tab =
  (name: string, ...then: readonly Steps[]): Steps =>
  async (page) => {
    await page.getByRole('navigation').getByRole('button', { name }).click();
    for (const step of then) await step(page);
  };
const press =
  (name: string): Steps =>
  (page) =>
    page.getByRole('button', { name }).first().click();
const choose =
  (text: string): Steps =>
  (page) =>
    page.getByRole('option').filter({ hasText: text }).first().click();

const make =
  (call: string, what: string): Steps =>
  async (page) => {
    await choose(call)(page);
    await press(what)(page);
    await page.getByRole('button', { name: 'Copy' }).waitFor();
  };

const looks: readonly (readonly [name: string, page: keyof BusyHost['pages'], steps: Steps])[] = [
  ['inbox', 'inbox', async () => {}],
  ['inbox-refund', 'inbox', choose('refund')],
  ['inbox-file', 'inbox', choose('write_file')],
  ['inbox-mail', 'inbox', choose('send_mail')],
  ['inbox-program', 'inbox', choose('A-17')],
  [
    'inspector-program',
    'inspector',
    async (page) => {
      await page.getByRole('searchbox').fill('chat-3');
      await choose('run_code')(page);
    },
  ],
  [
    'inbox-edit',
    'inbox',
    async (page) => {
      await choose('refund')(page);
      await press('Edit')(page);
    },
  ],
  ['inspector-calls', 'inspector', async () => {}],
  ['inspector-call', 'inspector', choose('write_file')],
  ['inspector-rule', 'inspector', make('refund', 'Make a rule')],
  ['inspector-test', 'inspector', make('no-env', 'Make a policy test')],
  ['inspector-overview', 'inspector', tab('Overview')],
  ['inspector-tools', 'inspector', tab('Sessions and tools')],
  ['inspector-rules', 'inspector', tab('Rules')],
  ['inspector-approvals', 'inspector', tab('Approvals')],
  ['report', 'report', async () => {}],
  ['inspector-try', 'inspector', tab('Try a call')],
];

/**
 * Takes the pictures into a folder, which it empties first.
 * @param only Words of the names of pictures; without any, all
 */
export async function look(
  browser: Browser,
  folder: string,
  only: readonly string[],
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const host = await startBusyHost();
  try {
    for (const [name, at, steps] of looks) {
      if (only.length > 0 && !only.some((word) => name.includes(word))) continue;
      for (const width of [1280, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          const context = await browser.newContext({
            colorScheme,
            viewport: { width, height: width === 390 ? 844 : 800 },
          });
          const page = await context.newPage();
          const to = `${name}-${width}-${colorScheme}.png`;
          try {
            page.setDefaultTimeout(30_000);
            await page.goto(host.pages[at]);
            if (at !== 'report') await page.getByText('live', { exact: true }).waitFor();
            await steps(page);
            await page.screenshot({ path: join(folder, to), animations: 'disabled' });
          } catch (error) {
            console.log(`${to}: ${String(error).split('\n', 1)[0]}`);
            await page.screenshot({ path: join(folder, to) });
          }
          await context.close();
        }
    }
  } finally {
    await host.close();
  }
}
