/** `npm run demo -- --inspect`: an agent at work, on the page, in a real browser. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repositoryRoot } from '../../examples/demo/workspace.ts';
import { exampleScript } from '../runner/scripts.ts';
import { chromiumAvailable, demandChromium, launchChromium, whyNot } from './chromium.ts';
import { tempFolder } from './fixtures.ts';

demandChromium();

const address = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/;

/** The address that the demo prints. */
async function addressOf(demo: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout as NodeJS.ReadableStream })) {
    const found = address.exec(line)?.[0];
    if (found !== undefined) {
      demo.stdout?.resume();
      return found;
    }
  }
  throw new Error('The demo ended before it printed an address.');
}

describe.skipIf(!chromiumAvailable)(`npm run demo -- --inspect${whyNot}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('waits for the page, shows its calls there, and clears up when it is interrupted', {
    timeout: 120_000,
  }, async () => {
    const temporary = await tempFolder();
    const program = await exampleScript('examples/demo.ts');
    const demo = spawn(process.execPath, [program, '--inspect'], {
      cwd: repositoryRoot,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(demo, 'exit');
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(await addressOf(demo));
      const calls = page.locator('[role=listbox] [role=option]');
      await calls.filter({ hasText: 'succeeded' }).first().waitFor();
      const denied = calls.filter({ hasText: 'policy_denied' });
      await denied.first().waitFor();
      // Each call that arrives moves the rows, and so what a click meets.
      await page.getByRole('button', { name: 'Pause' }).click();
      await denied.first().click();
      await page.getByText('Verdict').waitFor();
      demo.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
    } finally {
      demo.kill('SIGKILL');
    }
    const left = await readdir(temporary);
    expect(left.filter((name) => name.startsWith('host-tools-demo-'))).toEqual([]);
  });
});
