import { describe, expect, expectTypeOf, test } from 'vitest';
import { defineTool, type JsonObject } from '../../../src/index.ts';
import {
  type CodingAgentInput,
  type CodingAgentParsed,
  type CodingAgentTool,
  type CodingAgentToolName,
  codingAgentPreset,
  codingAgentTool,
} from '../../../src/surfaces/workflow/coding-agent-preset.ts';
import { createWorkflow } from '../../../src/surfaces/workflow/create-workflow.ts';
import { computeEffective, type ToolSpec } from '../../../src/surfaces/workflow/index.ts';
import { planBatch } from '../../../src/surfaces/workflow/plan-batch.ts';
import { reduce } from '../../../src/surfaces/workflow/reduce.ts';

const preset = codingAgentPreset();
const names = preset.tools.map((tool) => tool.name);
const ready: JsonObject = { 'hostSession.id': 'host-1', 'hostSession.status': 'ready' };
const effective = (profile: keyof typeof preset.profiles, facts: JsonObject) =>
  computeEffective({ tools: preset.tools, profile: preset.profiles[profile], facts });

describe('inventory', () => {
  test('is a session to open, a program to run, and nine file tools, in one order', () => {
    expect(names).toEqual([
      'host.session.open',
      'host.exec',
      'host.fs.read_file',
      'host.fs.write_file',
      'host.fs.edit_file',
      'host.fs.apply_patch',
      'host.fs.grep',
      'host.fs.glob',
      'host.fs.stat',
      'host.fs.exists',
      'host.fs.list_dir',
    ]);
  });
  test('is fresh plain data: what a host changes is its own', () => {
    const mine = codingAgentPreset();
    mine.tools.pop();
    mine.profiles.openai.length = 0;
    (mine.tools[0] as { description: string }).description = '';
    expect(codingAgentPreset()).toEqual(preset);
    expect(JSON.parse(JSON.stringify(preset))).toEqual(preset);
  });
  test.each(preset.tools.map((tool) => [tool.name, tool] as const))(
    '%s says what it does, and takes nothing that it does not name',
    (_, { description, parameters }) => {
      expect(description.length).toBeGreaterThan(30);
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
      for (const property of Object.values<JsonObject>(parameters.properties)) {
        expect(property.description).toMatch(/^[A-Z]/);
        const bound = {
          string: 'maxLength',
          array: 'maxItems',
          integer: 'minimum',
          boolean: 'type',
        }[property.type as string] as string;
        expect(property).toHaveProperty(bound);
      }
      const optional = Object.keys(parameters.properties).filter(
        (name) => !(parameters.required as readonly string[]).includes(name),
      );
      for (const name of optional)
        if (name !== 'maxLines')
          expect((parameters.properties as Record<string, JsonObject>)[name]).toHaveProperty(
            'default',
          );
    },
  );
  test('one tool is had by its name; an unknown one is refused with the nearest', () => {
    for (const tool of preset.tools) expect(codingAgentTool(tool.name)).toEqual(tool);
    expect(() => codingAgentTool('host.fs.readfile' as CodingAgentToolName)).toThrow(
      'Did you mean `host.fs.read_file`',
    );
    for (const name of ['toString', '__proto__'])
      expect(() => codingAgentTool(name as CodingAgentToolName)).toThrow(
        expect.objectContaining({ code: 'unknown_tool' }),
      );
  });
});

describe('with a handler a tool is a definition', () => {
  test('all in a loop', () => {
    const definitions = preset.tools.map((tool) =>
      defineTool({
        ...tool,
        handler: (input, context) => `${context.toolName} ${JSON.stringify(input)}`,
      }),
    );
    expect(definitions.map(({ name, parameters }) => ({ name, parameters }))).toEqual(
      preset.tools.map(({ name, parameters }) => ({ name, parameters })),
    );
  });
  test('one by its name, with the types of its input', () => {
    defineTool({
      ...codingAgentTool('host.fs.read_file'),
      handler: (input) => {
        expectTypeOf(input.path).toEqualTypeOf<string>();
        expectTypeOf(input.startLine).toEqualTypeOf<number>();
        expectTypeOf(input.maxLines).toEqualTypeOf<number | undefined>();
        return null;
      },
    });
    expectTypeOf<CodingAgentInput<'host.fs.grep'>>().toExtend<{ text: string; path?: string }>();
    expectTypeOf<CodingAgentParsed<'host.exec'>>().toExtend<{
      program: string;
      args: readonly string[];
      cwd: string;
      timeoutMs: number;
    }>();
    expectTypeOf<CodingAgentTool[]>().toExtend<ToolSpec[]>();
  });
});

const waiting = names.filter((name) => name !== 'host.session.open');

describe('the host session', () => {
  test.each([
    ['never opened', {}],
    ['cleared', { 'hostSession.id': null, 'hostSession.status': null }],
    ['closed', { 'hostSession.status': 'closed' }],
    ['expired', { 'hostSession.status': 'expired' }],
    ['in error', { 'hostSession.status': 'error' }],
    ['named, but not ready', { 'hostSession.id': 'host-1' }],
    ['Ready, in another case', { 'hostSession.status': 'Ready' }],
  ] as const)(
    '%s: only host.session.open is there, and named as what unlocks the rest',
    (_, facts) => {
      for (const profile of ['openai', 'anthropic', 'gemini'] as const) {
        const { names: shown, dropped, prerequisites } = effective(profile, facts);
        const gated = preset.profiles[profile].filter((name) => name !== 'host.session.open');
        expect(shown).toEqual(['host.session.open']);
        expect(
          dropped
            .filter(({ code }) => code === 'fact_unmet:hostSession.status')
            .map(({ name }) => name),
        ).toEqual(gated);
        expect(prerequisites).toEqual([
          { tool: 'host.session.open', fact: 'hostSession.status', unlocks: gated },
        ]);
      }
    },
  );
  test('ready: all tools of the profile are there, in its order', () => {
    for (const profile of ['openai', 'anthropic', 'gemini'] as const)
      expect(effective(profile, ready).names).toEqual(preset.profiles[profile]);
  });
  test('force opens no gate', () => {
    expect(
      computeEffective({
        tools: preset.tools,
        profile: preset.profiles.openai,
        overrides: { run: { force: waiting } },
      }).names,
    ).toEqual(['host.session.open']);
  });
});

describe('profiles', () => {
  test.each([
    ['openai', 'host.fs.apply_patch', 'host.fs.edit_file'],
    ['anthropic', 'host.fs.edit_file', 'host.fs.apply_patch'],
    ['gemini', 'host.fs.edit_file', 'host.fs.apply_patch'],
  ] as const)(
    '%s edits by %s, not by %s, and shares the rest in one order',
    (profile, edits, not) => {
      const { names: shown, dropped } = effective(profile, ready);
      expect(shown).toContain(edits);
      expect(shown).toEqual(names.filter((name) => name !== not));
      expect(dropped).toEqual([{ name: not, code: 'not_in_profile' }]);
    },
  );
  test('the other edit path can be enabled', () => {
    const { names: shown } = computeEffective({
      tools: preset.tools,
      profile: preset.profiles.openai,
      facts: ready,
      overrides: { session: { enable: ['host.fs.edit_file'] } },
    });
    expect(shown.at(-1)).toBe('host.fs.edit_file');
  });
});

describe('plans', () => {
  const groups = (...short: string[]) =>
    planBatch(
      short.map((name, index) => ({ id: `${index}`, name: `host.${name}` })),
      preset.tools,
    ).groups.map((group) => group.map((id) => short[Number(id)]));
  test.each([
    [
      ['fs.read_file', 'fs.grep', 'fs.glob', 'fs.stat', 'fs.exists', 'fs.list_dir', 'fs.read_file'],
      [7],
    ],
    [
      ['fs.read_file', 'fs.write_file', 'fs.edit_file', 'fs.read_file'],
      [2, 2],
    ],
    [
      ['fs.write_file', 'fs.apply_patch', 'fs.edit_file'],
      [1, 1, 1],
    ],
    [
      ['fs.read_file', 'exec', 'fs.read_file'],
      [1, 1, 1],
    ],
    [
      ['exec', 'exec', 'session.open'],
      [1, 1, 1],
    ],
  ])('%j', (calls, sizes) => {
    const planned = groups(...calls);
    expect(planned.flat()).toEqual(calls);
    expect(planned.map((group) => group.length)).toEqual(sizes);
  });
});

describe('a workflow of the preset', () => {
  test('answers its first run without a set-up event', () => {
    const { commands, error } = reduce(createWorkflow(codingAgentPreset()), {
      type: 'run_requested',
    });
    expect(error).toBeUndefined();
    expect(commands).toMatchObject([{ type: 'llm_generate', toolNames: ['host.session.open'] }]);
  });
  test('takes the profile of the provider', () => {
    for (const provider of ['openai', 'anthropic', 'gemini'] as const) {
      const { commands } = reduce(createWorkflow({ ...codingAgentPreset(), facts: ready }), {
        type: 'run_requested',
        provider,
      });
      expect(commands).toMatchObject([{ toolNames: preset.profiles[provider] }]);
    }
  });
});
