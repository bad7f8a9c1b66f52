/** Making the next document of a session's tools lets other work run between definitions. */
import { expect, test, vi } from 'vitest';
import type { ToolsDocument } from '../../../../src/surfaces/relay/ports/documents.ts';
import {
  nextDocument,
  type ToolsContent,
} from '../../../../src/surfaces/relay/tools/next-document.ts';
import { pinDefinitions } from '../../../../src/surfaces/relay/tools/tools-document.ts';
import { relayed } from '../relay-world.ts';

const count = 1_000;
const definitions = Array.from({ length: count }, (_, index) => relayed(`t${index}`));
const content: ToolsContent = {
  pluginType: 'custom',
  pluginVersion: '1',
  capabilities: [],
  environment: {},
  definitions,
};
/** A pause that lets other work run at every tenth step. */
const pausing = () => {
  let steps = 0;
  return vi.fn(() => (++steps % 10 === 0 ? Promise.resolve() : undefined));
};

test('comparing two lists calls the pause before each definition', async () => {
  const pause = pausing();
  const { document } = await nextDocument(undefined, content, { at: 1, registered: true, pause });
  expect(pause).toHaveBeenCalledTimes(count);
  const changed = definitions.map((one) => ({ ...one, description: 'Does more.' }));
  const { change } = await nextDocument(
    document,
    { ...content, definitions: changed },
    { at: 2, registered: true, pause },
  );
  expect(pause).toHaveBeenCalledTimes(2 * count);
  expect(change.modified).toHaveLength(count);
});

test('pinning a list does too, and refuses definitions that differ from the first ones', async () => {
  const pause = pausing();
  const { pins } = await pinDefinitions(definitions, undefined, pause);
  const [first] = definitions;
  const other = { ...relayed('t0'), description: 'Another.' };
  const { definitions: kept, failed } = await pinDefinitions([other, relayed('t1')], pins, pause);
  expect(pause).toHaveBeenCalledTimes(count + 2);
  expect([kept.map(({ name }) => name), failed.map(({ toolName }) => toolName)]).toEqual([
    ['t1'],
    [first?.name],
  ]);
});

test('an unchanged list gives the same document', async () => {
  const step = { at: 1, registered: true, pause: () => undefined };
  const { document } = await nextDocument(undefined, content, step);
  const copy = JSON.parse(JSON.stringify(definitions)) as ToolsDocument['definitions'];
  const again = await nextDocument(document, { ...content, definitions: copy }, step);
  expect(again.document).toBe(document);
});
