/**
 * What the host wants of a server's tools: which of them, with which labels, and followed or not.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import { importThrough } from '../../../../src/surfaces/mcp/client/import.ts';
import type { ImportedMcpTools } from '../../../../src/surfaces/mcp/client/imported-tools.ts';
import type { ImportWishes } from '../../../../src/surfaces/mcp/client/server-tools.ts';
import { type RawServer, tool } from './raw-http.ts';
import { brief, clock, closeAll, closing, serve, sessionOver } from './world.ts';

afterEach(closeAll);

const ports = { clock, handshakeMs: 5_000, later: () => () => {} };

async function wishing(
  { url }: RawServer,
  wishes: ImportWishes,
  pins?: Readonly<Record<string, string>>,
): Promise<ImportedMcpTools> {
  const options = { name: 's', prefix: 's.', ...(pins === undefined ? {} : { pins }) };
  return closing(await importThrough({ url }, options, ports, wishes));
}

const named = (imported: ImportedMcpTools) => imported.tools.map(({ name }) => name);

test('only tools that are wanted are taken, by the names that the server gives them', async () => {
  const imported = await wishing(await serve([tool('echo'), tool('two')]), {
    takes: (name) => name === 'two',
  });
  expect([named(imported), imported.drift, imported.failed]).toEqual([['s.two'], [], []]);
});

describe('labels', () => {
  const labelsOf = () => ({
    annotations: { readOnly: true, destructive: false },
    origin: 'trusted' as const,
    roles: { text: 'free' as const },
    requiresApproval: true,
  });

  test('may loosen what the server’s own hints cannot', async () => {
    const [plain] = (await wishing(await serve(), {})).tools;
    const imported = await wishing(await serve(), { labelsOf });
    expect(plain?.annotations).toEqual({ destructive: true, openWorld: true });
    expect(imported.tools[0]?.annotations).toEqual({
      readOnly: true,
      destructive: false,
      openWorld: true,
    });
    const session = sessionOver(imported);
    expect(brief(await session.call('s.echo', {}))).toEqual(['approval_denied', 'no_approver']);
  });

  test('are no part of what is pinned and reviewed', async () => {
    const server = await serve();
    const plain = await wishing(server, {});
    const labelled = await wishing(server, { labelsOf }, plain.pins);
    expect([named(labelled), labelled.drift, labelled.pins]).toEqual([['s.echo'], [], plain.pins]);
    expect(labelled.found('s.echo')?.fingerprint).toBe(plain.pins['s.echo']);
    expect(labelled.tools[0]?.fingerprint).not.toBe(plain.pins['s.echo']);
  });

  test('stay on a definition that was accepted after a change', async () => {
    const server = await serve();
    const imported = await wishing(server, { labelsOf });
    const session = sessionOver(imported);
    server.tools = [tool('echo', { description: 'Other.' })];
    await imported.refresh();
    expect(brief(await session.call('s.echo', {}))).toEqual([
      'tool_not_available',
      'definition_changed',
    ]);
    imported.accept('s.echo', imported.drift[0]?.found);
    expect(session.effectiveTools().tools[0]).toMatchObject({
      description: 'Other.',
      annotations: { readOnly: true },
      requiresApproval: true,
    });
  });
});

describe('an import that follows its server', () => {
  test('takes new and changed tools, and withdraws those that are gone', async () => {
    const server = await serve([tool('echo'), tool('gone')]);
    let listings = 0;
    const imported = await wishing(server, { follows: true, onListed: () => listings++ });
    const registry = new HostToolRegistry();
    const session = sessionOver(imported, registry);
    server.tools = [tool('echo', { description: 'Other.' }), tool('fresh')];
    await imported.refresh();
    expect([listings, named(imported), imported.drift]).toEqual([2, ['s.echo', 's.fresh'], []]);
    expect(registry.get('s.echo')?.description).toBe('Other.');
    expect(brief(await session.call('s.gone', {}))).toEqual(['tool_not_available', 'removed']);
  });

  test('does not follow where pins are given', async () => {
    const server = await serve();
    const { pins } = await wishing(server, {});
    const imported = await wishing(server, { follows: true }, pins);
    server.tools = [tool('echo', { description: 'Other.' })];
    await imported.refresh();
    expect(named(imported)).toEqual([]);
    expect(imported.drift).toHaveLength(1);
  });
});
