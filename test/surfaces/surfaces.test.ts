/** One truth on every surface: the same calls, through each of them, against a direct call. */

import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { partTable } from '../../src/assembly/part-table.ts';
import type { ToolSession } from '../../src/index.ts';
import { toAiSdkTools } from '../../src/surfaces/ai-sdk/index.ts';
import { dispatchAnthropic } from '../../src/surfaces/anthropic/index.ts';
import { toClaudeAgent } from '../../src/surfaces/claude-agent/index.ts';
import { dispatchGemini } from '../../src/surfaces/gemini/index.ts';
import { dispatchLangChain } from '../../src/surfaces/langchain/index.ts';
import { createMcpHandler, serveMcpStdio } from '../../src/surfaces/mcp/index.ts';
import { dispatchOpenAI } from '../../src/surfaces/openai/index.ts';
import type { SurfaceAnswer } from '../../src/surfaces/testing/index.ts';
import {
  type SurfaceFeature,
  type SurfaceUnderTest,
  surfaceConformance,
} from '../../src/surfaces/testing/index.ts';
import { subpaths } from '../../tsup.config.ts';

const surfacesPage = readFileSync(new URL('../../docs/surfaces.md', import.meta.url), 'utf8');

/** A part in anybody's words, as text: what is no text is named as `serializeOutput` names it. */
function partText(part: unknown): string {
  const { text, type, mimeType, mime_type, source, image_url, mediaType } = part as Record<
    string,
    never
  >;
  if (typeof text === 'string') return text;
  const media: unknown =
    mimeType ??
    mime_type ??
    mediaType ??
    (source as { media_type?: string } | undefined)?.media_type ??
    /^data:([^;]+)/.exec(String(image_url ?? ''))?.[1];
  return `[${String(type).includes('audio') ? 'audio' : 'image'}: ${String(media)}]`;
}
const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : (content as unknown[]).map(partText).join('\n');

interface McpAnswer {
  content: unknown[];
  isError?: boolean;
  _meta?: { 'host-tools/error'?: { code: string } };
}
const mcpAnswer = ({ content, isError = false, _meta }: McpAnswer): SurfaceAnswer => ({
  text: textOf(content),
  isError,
  code: _meta?.['host-tools/error']?.code,
});

async function mcpOverHttp(
  session: ToolSession,
  era: 'legacy' | 'modern',
): Promise<SurfaceUnderTest> {
  const handler = createMcpHandler(session);
  const client = new Client(
    { name: 'test', version: '1' },
    era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      fetch: (url, init) => handler.fetch(new Request(url, init)),
    }),
  );
  return {
    call: async (name, input, { signal }) =>
      mcpAnswer((await client.callTool({ name, arguments: input as never }, { signal })) as never),
    close: async () => {
      await client.close();
      await handler.close();
    },
  };
}

async function mcpOverStdio(session: ToolSession): Promise<SurfaceUnderTest> {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const served = serveMcpStdio(session, { stdin: toServer, stdout: toClient });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioServerTransport(toClient, toServer) as never);
  return {
    call: async (name, input, { signal }) =>
      mcpAnswer((await client.callTool({ name, arguments: input as never }, { signal })) as never),
    close: async () => {
      await client.close();
      await served.close();
    },
  };
}

async function claudeAgent(session: ToolSession): Promise<SurfaceUnderTest> {
  const { mcpServers } = toClaudeAgent(session, { name: 'host' });
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  const { instance } = mcpServers.host as unknown as {
    instance: { connect(transport: object): Promise<void> };
  };
  await instance.connect(toServer);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(toClient);
  return {
    call: async (name, input, { signal }) => {
      const answer = mcpAnswer(
        (await client.callTool({ name, arguments: input as never }, { signal })) as never,
      );
      // Claude Code puts the server before the names that its model sees, and messages do as well.
      return { ...answer, text: answer.text.replaceAll('mcp__host__', '') };
    },
    close: () => client.close(),
  };
}

const surfaces: Readonly<
  Record<
    string,
    {
      /** The subpath of the package. */
      readonly by: string;
      readonly make: (session: ToolSession) => SurfaceUnderTest | Promise<SurfaceUnderTest>;
      readonly lacks?: readonly SurfaceFeature[];
      /** Whether it reads the arguments that models send. */
      readonly adapter?: boolean;
    }
  >
> = {
  'MCP over stdio': { by: 'mcp', make: mcpOverStdio, lacks: ['notObjects'] },
  'MCP over HTTP, 2025-11-25': {
    by: 'mcp',
    make: (session) => mcpOverHttp(session, 'legacy'),
    lacks: ['notObjects'],
  },
  'MCP over HTTP, 2026-07-28': {
    by: 'mcp',
    make: (session) => mcpOverHttp(session, 'modern'),
    lacks: ['notObjects'],
  },
  'OpenAI chat': {
    by: 'openai',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const [answer] = await dispatchOpenAI(
          session,
          [{ id: 'c', type: 'function', function: { name, arguments: JSON.stringify(input) } }],
          { signal },
        );
        return { text: textOf(answer?.content), isError: false };
      },
    }),
    lacks: ['errors', 'codes'],
  },
  'OpenAI responses': {
    by: 'openai',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const [answer] = await dispatchOpenAI(
          session,
          {
            output: [
              { type: 'function_call', call_id: 'c', name, arguments: JSON.stringify(input) } as {
                type: string;
              },
            ],
          },
          { signal },
        );
        return { text: textOf((answer as { output?: unknown }).output), isError: false };
      },
    }),
    lacks: ['errors', 'codes'],
  },
  Anthropic: {
    by: 'anthropic',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const [answer] = await dispatchAnthropic(
          session,
          { content: [{ type: 'tool_use', id: 'c', name, input }] } as never,
          { signal },
        );
        return { text: textOf(answer?.content), isError: answer?.is_error === true };
      },
    }),
    lacks: ['codes'],
  },
  Gemini: {
    by: 'gemini',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const [part] = await dispatchGemini(session, [{ name, args: input as never }], {
          signal,
          media: false,
        });
        const response = part?.functionResponse.response;
        if (response !== undefined && 'error' in response)
          return { text: response.error.message, isError: true, code: response.error.code };
        return { text: String(response?.output), isError: false };
      },
    }),
  },
  'AI SDK': {
    by: 'ai-sdk',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const tool = toAiSdkTools(session).tools[name] as unknown as {
          execute(input: unknown, call: object): Promise<{ error?: { code: string } }>;
          toModelOutput(answer: object): { type: string; value: unknown };
        };
        const output = await tool.execute(input, {
          toolCallId: 'c',
          messages: [],
          abortSignal: signal,
        });
        const { type, value } = tool.toModelOutput({ output });
        return {
          text: type === 'json' ? JSON.stringify(value) : textOf(value),
          isError: type === 'error-text',
          code: output.error?.code,
        };
      },
    }),
    lacks: ['unlisted'],
  },
  LangChain: {
    by: 'langchain',
    adapter: true,
    make: (session) => ({
      call: async (name, input, { signal }) => {
        const [message] = await dispatchLangChain(
          session,
          { tool_calls: [{ id: 'c', name, args: input }] },
          { signal },
        );
        const { content, status, artifact } = message as unknown as {
          content: unknown;
          status: string;
          artifact: { error?: { code: string } };
        };
        return { text: textOf(content), isError: status === 'error', code: artifact.error?.code };
      },
    }),
  },
  'Claude Agent SDK': { by: 'claude-agent', make: claudeAgent, lacks: ['notObjects', 'unlisted'] },
};

/** The other subpaths of the package, and why they need not pass the suite. */
const others: Readonly<Record<string, string>> = {
  index: 'a direct call, with which the others are compared',
  core: 'a direct call, too',
  extend: 'what surfaces are made with',
  testing: 'the suite itself',
  workflow: 'a host calls its session itself',
  amplifier: 'a coordinator mounts tools, and has a suite of its own',
  acp: 'it offers tools by the MCP handler, and judges those of agents',
  relay: 'agents come by the MCP handler, or get the result itself as JSON',
  'relay/client': 'it brings tools, not calls',
  config: 'it brings tools, not calls',
  openapi: 'it brings tools, not calls',
  postgres: 'stores',
  redis: 'stores',
  sqlite: 'stores',
  offload: 'a store',
  cedar: 'policies',
  opa: 'policies',
  policy: 'it judges recorded calls and runs none',
  audit: 'it records calls',
  inspector: 'it shows calls',
  approvals: 'people answer questions there',
  otel: 'it measures calls',
  prometheus: 'it measures calls',
  sandbox: 'executors, which have a suite of their own',
  bullmq: 'executors, which have a suite of their own',
};

test('each subpath of the package passes the suite, or says why not', () => {
  const tested = Object.values(surfaces).map(({ by }) => by);
  // A part belongs to registries, whatever brings the calls.
  const parts = partTable.map(({ subpath }) => subpath);
  expect([...new Set([...tested, ...Object.keys(others), ...parts])].sort()).toEqual(
    Object.keys(subpaths).sort(),
  );
});

describe.each(Object.entries(surfaces))('%s', (_, { make, lacks = [], adapter = false }) => {
  for (const rule of surfaceConformance(make, {
    programs: true,
    features: {
      ...Object.fromEntries(lacks.map((feature) => [feature, false])),
      noArguments: adapter,
    },
  }))
    test(rule.name, rule.run);
});

test.each([...new Set(Object.values(surfaces).map(({ by }) => by))])(
  'docs/surfaces.md leads to the page of %s',
  (by) => {
    const page = by === 'mcp' ? 'mcp-server' : by;
    expect(surfacesPage).toContain(`](${page}.md)`);
  },
);

test('the table in docs has a row for each surface that is tested here', () => {
  const rows = [...surfacesPage.matchAll(/^\| ([^|]+?) \|/gm)]
    .map((match) => match[1])
    .filter((row) => row !== 'surface');
  expect(rows).toEqual(['direct call', 'mount', ...Object.keys(surfaces)]);
});
