/** The types of a tool set that is made from definitions. */
import type { AnyTool, ToolRef } from '../../index.ts';
import type { AiSdkTool, AiSdkTypedTool } from './tool.ts';

/** A character that every name may have. */
type Plain =
  | Letter
  | Uppercase<Letter>
  | '0'
  | '1'
  | '2'
  | '3'
  | '4'
  | '5'
  | '6'
  | '7'
  | '8'
  | '9'
  | '_'
  | '-';
// biome-ignore format: one line
type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';

/**
 * A name as it is shown, where no other tool's name stands in its way: what is no letter, digit,
 * `_` or `-` becomes `_`.
 */
export type AiSdkShownName<Name extends string, Done extends string = ''> = string extends Name
  ? string
  : Name extends `${infer First}${infer Rest}`
    ? AiSdkShownName<Rest, `${Done}${First extends Plain ? First : '_'}`>
    : Done;

/** The same at run time, to find the names that the type gets wrong. */
export function typedName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The tools of a session; of given definitions, each under its shown name and with its types. */
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
