/**
 * A call over MCP that a person approves on the page, while the host is another process by then.
 */
import { describe, expect, test } from 'vitest';
import { play, type Story, scriptedPerson } from '../../examples/approvals/main.ts';
import { chromiumAvailable, demandChromium, launchChromium, whyNot } from './chromium.ts';

demandChromium();

const beginning = [
  'agent: refund → approval_pending',
  'agent: approval_outcome → {"status":"pending"}',
  'host: the process has ended',
  'host: another process has started',
];

async function told(personOf: (say: Story['say']) => Story['person']): Promise<string[]> {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  await play({ say, person: personOf(say) });
  return lines;
}

test('the call survives the restart, is allowed once, and its agent gets the result', async () => {
  expect(await told(scriptedPerson)).toEqual([
    ...beginning,
    'page: support-agent asks: Refund 120.00 EUR for order A-8812?',
    'bob: allow once → succeeded',
    'agent: approval_outcome → {"status":"settled","decision":"allow_once",' +
      '"output":{"refunded":12000,"receipt":"R-A-8812"}}',
    'ledger: A-8812 12000',
  ]);
});

describe.skipIf(!chromiumAvailable)(`on the page, in Chromium${whyNot}`, () => {
  test('a person signs in and rejects with a message, which the agent gets', async () => {
    const browser = await launchChromium();
    try {
      const lines = await told(() => async (origin, password) => {
        const page = await browser.newPage();
        page.setDefaultTimeout(60_000);
        await page.goto(`${origin}/approvals/`);
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('region', { name: 'Refund 120.00 EUR for order A-8812?' }).waitFor();
        await page.getByText('You answer as bob').waitFor();
        await page.getByRole('button', { name: 'Reject …' }).click();
        await page.getByRole('textbox').fill('The order was never paid.');
        await page.getByRole('button', { name: /^Reject.*A-8812/ }).click();
        await page.getByText('You have rejected this.').first().waitFor();
      });
      expect(lines.slice(0, 4)).toEqual(beginning);
      expect(lines[4]).toMatch(
        /^agent: approval_outcome → \{"status":"settled","decision":"reject_once","error":\{"code":"approval_denied".*The order was never paid\./,
      );
      expect(lines[5]).toBe('ledger: ');
    } finally {
      await browser.close();
    }
  });
});
