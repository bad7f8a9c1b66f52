/** A registry that records what is done to it, so that a failed set-up can be undone. */
import { registryStateOf } from '../../core/registry/state-of.ts';
import type {
  AnyTool,
  HostToolRegistry,
  Profile,
  Quota,
  Rule,
  ToolRegistration,
  ToolScope,
} from '../../core.ts';
import { shareCode, sharedCode } from '../../parts/code/settings.ts';
import { definitionsOf, removeProfiles, replaceTool } from './commit-tools.ts';
import { behind, loadedFiles, standFor } from './loaded-files.ts';

/** The registry for a set-up, and what the set-up did with it. */
export interface Recording {
  /** Works like the registry. */
  readonly registry: HostToolRegistry<never>;
  /** The names of the tools that were registered through it and are still registered, in order. */
  names(): readonly string[];
  /** Undoes everything that was done through it. What other code did meanwhile is kept. */
  undo(): Promise<void>;
}

/**
 * Creates a stand-in for a registry that records what is done through it. Longer than 60 lines,
 * since each recorded method adds its own undo to one shared list.
 */
export function recordRegistry(target: HostToolRegistry<never>): Recording {
  const undo: (() => unknown)[] = [];
  const registered = new Map<string, AnyTool>();
  const note = (registration: ToolRegistration): void => {
    registered.set(registration.name, target.get(registration.name) as AnyTool);
    undo.push(() => registration.unregister());
  };
  const recorded = {
    register: (definition: AnyTool): ToolRegistration => {
      const registration = target.register(definition);
      note(registration);
      return registration;
    },
    registerAll: (definitions: readonly AnyTool[]): readonly ToolRegistration[] => {
      const registrations = target.registerAll(definitions);
      registrations.forEach(note);
      return registrations;
    },
    registerOrReplace: (definition: AnyTool): boolean => {
      const name = (definition as AnyTool | undefined)?.name as string;
      const before = definitionsOf(target, name);
      const replaced = target.registerOrReplace(definition);
      const now = definitionsOf(target, name);
      const old = before.find((one) => !now.includes(one));
      registered.set(name, definition);
      undo.push(() => {
        if (!definitionsOf(target, name).includes(definition)) return;
        if (old === undefined) target.unregister(definition);
        else replaceTool(target, definition, old);
      });
      return replaced;
    },
    addRules: (rules: readonly Rule[]): (() => void) => {
      const remove = target.addRules(rules);
      undo.push(remove);
      return remove;
    },
    addQuotas: (quotas: readonly Quota[]): (() => void) => {
      const remove = target.addQuotas(quotas);
      undo.push(remove);
      return remove;
    },
    defineProfile: (profile: Profile): void => {
      const before = target.profile(profile?.id);
      target.defineProfile(profile);
      const { id } = profile;
      undo.push(() =>
        before === undefined ? removeProfiles(target, [id]) : target.defineProfile(before),
      );
    },
    scope: (...args: Parameters<HostToolRegistry<never>['scope']>): ToolScope<never> => {
      const scope = target.scope(...args);
      undo.push(() => scope.dispose());
      return scope;
    },
  };
  const registry = new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(recorded, key)) return recorded[key as keyof typeof recorded];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  standFor(registry, target);
  const { files } = loadedFiles(target);
  const filesBefore = new Map(files);
  const state = registryStateOf(behind(target));
  const code = sharedCode(state);
  return {
    registry,
    names: () => [...registered.keys()].filter((name) => target.get(name) !== undefined),
    undo: async () => {
      for (const step of undo.reverse()) await step();
      shareCode(state, code);
      // The files that the set-up loaded no longer count as loaded.
      for (const [path, file] of files) if (filesBefore.get(path) !== file) files.delete(path);
    },
  };
}
