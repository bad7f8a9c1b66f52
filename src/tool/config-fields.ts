/** Reading the fields of a config that a table alone cannot check. */
import { readPrompt } from '../approval/request.ts';
import type { JsonPrimitive } from '../json.ts';
import { readOptions, wrongOption } from '../options.ts';
import type { ToolAnnotations } from '../tool-summary.ts';
import { annotationTable, asField, factTable, toolTable } from './config-table.ts';
import { isDefinition, type ToolInternals } from './definition.ts';
import type { FactRule } from './tool-config.ts';

const noAnnotations: ToolAnnotations = Object.freeze({});

export function readAnnotations(value: object | undefined, where: string): ToolAnnotations {
  if (value === undefined) return noAnnotations;
  const given = readOptions(where, value, annotationTable, { ...asField, path: 'annotations' });
  return Object.freeze(
    Object.fromEntries(Object.entries(given).filter(([, flag]) => flag !== undefined)),
  );
}

export function readUses(value: readonly unknown[], where: string): readonly string[] {
  return Object.freeze(
    value.map((item) => {
      if (typeof item === 'string' && item !== '') return item;
      if (isDefinition(item)) return item.name;
      throw wrongOption(where, 'uses', toolTable.uses.expected, item, asField);
    }),
  );
}

function isPrimitive(value: unknown): value is JsonPrimitive {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

export function readFactRules(value: readonly unknown[], where: string): readonly FactRule[] {
  return Object.freeze(
    value.map((one, index): FactRule => {
      const path = `requires[${index}]`;
      if (one === undefined) throw wrongOption(where, path, 'a rule', one, asField);
      const rule = readOptions(where, one as object, factTable, { ...asField, path });
      const { fact, equals, in: among } = rule;
      if (Array.isArray(among) && equals === undefined && among.every(isPrimitive))
        return Object.freeze({ fact, in: Object.freeze([...among]) });
      if (among === undefined && isPrimitive(equals)) return Object.freeze({ fact, equals });
      throw wrongOption(
        where,
        path,
        'one of { fact, equals } and { fact, in: [...] }',
        one,
        asField,
      );
    }),
  );
}

export function readApproval(value: unknown, where: string): ToolInternals['requiresApproval'] {
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function')
    return value as ToolInternals['requiresApproval'];
  const prompt = readPrompt(value);
  if (prompt === undefined)
    throw wrongOption(
      where,
      'requiresApproval',
      'a boolean, { title, message?, risk? }, or a function that returns either',
      value,
      asField,
    );
  return prompt;
}
