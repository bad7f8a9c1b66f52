/** A client that the host has connected: its own listener stays the host's. */
import { expect, test } from 'vitest';
import { adoptClient } from '../../../../src/surfaces/mcp/client/link.ts';
import type { ConnectedMcpClient } from '../../../../src/surfaces/mcp/client/sdk.ts';

type Fake = ConnectedMcpClient & { onclose: (() => void) | undefined };

function adopted(onclose?: () => void) {
  const client = {
    transport: {},
    onclose,
    setNotificationHandler() {},
    removeNotificationHandler() {},
  } as unknown as Fake;
  const link = adoptClient(client, {
    handshakeMs: 1,
    signal: new AbortController().signal,
    toolsChanged() {},
  });
  const told: string[] = [];
  link.onlost = () => told.push('lost');
  return { client, link, told };
}

test('its loss is noticed, also if the host’s own listener throws', () => {
  const { client, link, told } = adopted(() => {
    throw new Error('mine');
  });
  expect(() => client.onclose?.()).toThrow('mine');
  expect([link.lost, told]).toEqual([true, ['lost']]);
});

test('gets its listener back on release, or keeps the one that the host has set', async () => {
  const [first, later] = [() => {}, () => {}];
  const back = adopted(first);
  await back.link.close();
  expect(back.client.onclose).toBe(first);
  const kept = adopted(first);
  kept.client.onclose = later;
  await kept.link.close();
  expect(kept.client.onclose).toBe(later);
});
