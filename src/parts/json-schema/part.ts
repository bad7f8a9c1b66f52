/** Plain JSON Schemas as a part of a registry, with the engine for their patterns. */
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { type Check, type CompilePart, isText } from '../../core/rules/rule-check.ts';
import { globCost, onText } from '../../core/rules/scalar-tests.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { withoutStrictNulls } from '../../values/schema/strict-nulls.ts';
import { compilePattern } from '../../values/text/regex.ts';
import { repair } from './repair.ts';

// The test `matches` of a rule: a regular expression.

/** For each instruction of a pattern; see the costs of the other tests. */
const patternCost = 1 / 16;

const compileMatches: CompilePart = (operand, field, comparison, check: Check) => {
  check(isText(operand), field, 'a regular expression as a non-empty string', operand);
  const { matcher, size } = patternOf(operand, field, check);
  const cost = Math.max(globCost, size * patternCost);
  return onText((text) => matcher.test(text), comparison, cost);
};

/**
 * The host wrote the pattern, but the model writes the texts: only the linear engine may run it.
 */
function patternOf(source: string, field: string, check: Check): ReturnType<typeof compilePattern> {
  try {
    return compilePattern(source, { trusted: false });
  } catch (error) {
    check(
      false,
      field,
      'a regular expression that runs in linear time ' +
        `(${error instanceof Error ? error.message : 'refused'})`,
      source,
    );
  }
}

/**
 * The part that adds plain JSON Schemas as `parameters`, `outputSchema` and `policy.knobs`,
 * `matches` in rules and quotas, `repair: "safe"` of sessions, and `strictNulls: true` of surfaces.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools/core';
 * import { jsonSchemas } from 'host-tools/json-schema';
 *
 * const registry = new HostToolRegistry({ parts: [jsonSchemas()] });
 * registry.register(
 *   defineTool({
 *     name: 'greet',
 *     description: 'Greets a person.',
 *     parameters: { type: 'object', properties: { name: { type: 'string' } } },
 *     handler: ({ name }) => `Hello ${name}`,
 *   }),
 * );
 * ```
 */
export function jsonSchemas(): Part {
  return part;
}

const part = definePart({
  name: 'jsonSchemas',
  schemas: { json: schemaEngine },
  tests: { matches: compileMatches },
  install(ports, registry) {
    ports.tools.definitions.push((definition) => {
      const { input, output, knobs } = internalsOf(definition);
      const native = [input, output, knobs].flatMap((schema) => schema?.check() ?? []);
      if (native.length === 0) return;
      registry.warn(
        { tool: definition.name, patterns: native },
        'patterns that RE2 cannot express run on the native engine, which a hostile input can ' +
          'hang; rewrite them without lookaround and backreferences',
      );
    });
    ports.calls.repair = repair;
    ports.calls.dropNulls = withoutStrictNulls;
  },
});
