/**
 * Calculations of a line. bash runs what is in the index of a variable, even if the variable has
 * got it as a text: after `read x`, `((x))` runs what was read.
 */
import type { SyntaxNode } from 'unbash';

const comparison = /^-(?:eq|ne|lt|le|gt|ge)$/;
const fillers = /^(?:getopts|mapfile|printf|read|readarray|vared|wait)$/;
const declarers = /^(?:declare|export|integer|local|readonly|typeset)$/;

export class Calculations {
  readonly #calculated = new Set<string>();
  readonly #doubtful = new Set<string>();
  readonly #set: Set<string>;
  readonly #unclear: (why: string) => void;

  /** @param set Names of variables that the line sets */
  constructor(set: Set<string>, unclear: (why: string) => void) {
    this.#set = set;
    this.#unclear = unclear;
  }

  /** Variables that may hold code and are calculated with. */
  get uncertain(): readonly string[] {
    return [...this.#calculated].filter((name) => this.#doubtful.has(name));
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'ArithmeticWord': {
        const { value, parts = [] } = node;
        for (const name of this.#calculate(value)) this.#set.add(name);
        if (value.includes('[') || parts.some(({ type }) => type.endsWith('Quoted')))
          this.#unclear('a calculation that is known only at run time');
        break;
      }
      case 'TestBinary':
        if (comparison.test(node.operator)) {
          this.#calculate(node.left.value);
          this.#calculate(node.right.value);
        }
        break;
      case 'Assignment': {
        const { name, index, value } = node;
        this.#set.add(name);
        if (index !== undefined) this.#calculate(index.text);
        if (value.type === 'ArrayValue') {
          this.#doubtful.add(name);
          for (const { text } of value.elements)
            this.#calculate(/^\[([^\]]*)\]/.exec(text)?.[1] ?? '');
        } else if (!/^\d*$/.test(value.text)) this.#doubtful.add(name);
      }
    }
  }

  command(program: string, words: readonly string[]): void {
    if (program === 'let') for (const word of words) this.#calculate(word);
    if (fillers.test(program))
      for (const word of words) for (const name of namesIn(word)) this.#doubtful.add(name);
    if (!declarers.test(program)) return;
    const isInteger = program === 'integer' || words.some((word) => /^-[A-Za-z]*i/.test(word));
    for (const word of words) {
      const [, name, value] = /^(\w+)\+?=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && !/^\d*$/.test(value ?? '')) this.#doubtful.add(name);
      if (isInteger) this.#calculate(word);
    }
  }

  #calculate(text: string): readonly string[] {
    const names = namesIn(text);
    for (const name of names) this.#calculated.add(name);
    return names;
  }
}

function namesIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}
