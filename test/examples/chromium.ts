/**
 * A real browser for tests, where there is one: Debian's Chromium, by preference without the parts
 * that draw windows. It takes half the processor's time.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { test } from 'vitest';

const places = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = places.find((place) => existsSync(place));

/** Whether there is one to start. */
export const chromiumAvailable = executablePath !== undefined;

/** What the name of a suite ends with that cannot run here. */
export const whyNot = chromiumAvailable ? '' : ` (skipped: no ${places.join(' or ')})`;

/**
 * A suite that needs a browser begins with this: where one is demanded, its absence is a failure.
 */
export function demandChromium(): void {
  if (chromiumAvailable || process.env.HOST_TOOLS_REQUIRE_CHROMIUM !== '1') return;
  test('Chromium is there, since HOST_TOOLS_REQUIRE_CHROMIUM=1', () => {
    throw new Error(
      `Expected to find ${places.join(' or ')}, since HOST_TOOLS_REQUIRE_CHROMIUM=1; install it, ` +
        'such as by `apt-get install chromium`',
    );
  });
}

/**
 * Starts it. Its own sandbox does not run for root, as whom containers run tests; it loads nothing
 * but the tests' own pages.
 */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
