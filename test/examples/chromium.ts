/** A real browser for tests, where there is one: Debian's Chromium. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { test } from 'vitest';

const executablePath = '/usr/bin/chromium';

/** Whether there is one to start. */
export const chromiumAvailable = existsSync(executablePath);

/** What the name of a suite ends with that cannot run here. */
export const whyNot = chromiumAvailable ? '' : ` (skipped: no ${executablePath})`;

/**
 * A suite that needs a browser begins with this: where one is demanded, its absence is a failure.
 */
export function demandChromium(): void {
  if (chromiumAvailable || process.env.HOST_TOOLS_REQUIRE_CHROMIUM !== '1') return;
  test(`${executablePath} is there, since HOST_TOOLS_REQUIRE_CHROMIUM=1`, () => {
    throw new Error(
      `Expected to find ${executablePath}, since HOST_TOOLS_REQUIRE_CHROMIUM=1; install it, ` +
        `such as by \`apt-get install chromium\``,
    );
  });
}

/**
 * Starts it. Its own sandbox does not run for root, as whom containers run tests; it loads nothing
 * but the tests' own pages.
 */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox'],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
