/** The types of a tool set that was made from definitions. */
import type { AnyTool, ToolRef } from '../../core.ts';
import type { AiSdkTool, AiSdkTypedTool } from './tool.ts';

/** A character that all providers accept in a name. */
type Plain = Letter | Uppercase<Letter> | Digit | '_' | '-';
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
// biome-ignore format: two lines instead of 26
type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm'
  | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';

/**
 * The shown name of a tool: every character other than a letter, a digit, `_` and `-` becomes `_`.
 * Names that are too long, or that clash with another tool's, are shown differently.
 */
export type AiSdkShownName<Name extends string, Done extends string = ''> = string extends Name
  ? string
  : Name extends `${infer First}${infer Rest}`
    ? AiSdkShownName<Rest, `${Done}${First extends Plain ? First : '_'}`>
    : Done;

/** Computes the same name at run time, to find names for which the type is wrong. */
export function typedName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The session's tools by shown name. Tools that were given as definitions are typed. */
export type AiSdkToolSet<Tools extends readonly AnyTool[] | undefined> =
  Tools extends readonly AnyTool[]
    ? {
        readonly [Tool in Tools[number] as AiSdkShownName<Tool['name']>]: Tool extends ToolRef<
          infer I,
          infer O
        >
          ? AiSdkTypedTool<I, O>
          : never;
      }
    : { readonly [name: string]: AiSdkTool };
