/** A form that is made from a tool's schema, and the outcome of the call. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallAnswer, ToolDetail, ToolListing, VerdictView } from '../../inspector-wire.ts';
import { Badge, Empty, JsonText, parsed, Scroll, toneOf } from '../parts/elements.tsx';
import { OriginsTable } from '../parts/origins-table.tsx';
import { ask } from '../parts/server.ts';
import { durationOf } from '../parts/words.ts';
import { CallForm } from './call-form.tsx';
import type { ViewProps } from './place.ts';
import { useAnswer, useDraft } from './store.ts';
import { Verdict } from './tool-detail-pane.tsx';

type Outcome =
  | { readonly kind: 'asking'; readonly what: string }
  | { readonly kind: 'trouble'; readonly text: string }
  | { readonly kind: 'verdict'; readonly verdict: VerdictView }
  | { readonly kind: 'answer'; readonly answer: CallAnswer };

/** Longer than 60 lines: the fields of the page, in their order. */
export function TryView({ store, known, go }: ViewProps): JSX.Element {
  const profiles = known.state?.profiles ?? [];
  const [profile, setProfile] = useDraft(store, 'profile', () => '');
  const [principal, setPrincipal] = useDraft(store, 'principal', () => '');
  const [name, setName] = useDraft(store, 'tool', () => '');
  const query = `profile=${encodeURIComponent(profile)}`;
  const listing = useAnswer<ToolListing>(store, `tools?${query}`, '').answer;
  const names = [...(listing?.shown ?? []), ...(listing?.hidden ?? [])].map((tool) => tool.name);
  const chosen = names.includes(name) ? name : (names[0] ?? '');
  const path = chosen === '' ? undefined : `tool?${query}&name=${encodeURIComponent(chosen)}`;
  const tool = useAnswer<ToolDetail>(store, path, '').answer;
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  useEffect(() => setOutcome(undefined), [chosen, profile]);
  const send = async (what: 'run' | 'explain', input: unknown): Promise<void> => {
    setOutcome({
      kind: 'asking',
      what: what === 'run' ? 'The call runs …' : 'The gates are asked …',
    });
    try {
      const body = { tool: chosen, input, profile, principal };
      const told = await ask<unknown>(store.token, what, body);
      setOutcome(
        what === 'run'
          ? { kind: 'answer', answer: told as CallAnswer }
          : { kind: 'verdict', verdict: told as VerdictView },
      );
    } catch (error) {
      setOutcome({ kind: 'trouble', text: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <Scroll name="scroll" label="Try a call">
      <div class="column pair top-aligned">
        <section class="card">
          <header>
            <h2>Call</h2>
          </header>
          <div class="body form">
            <div class="pair tight">
              <label class="named">
                Profile
                <select
                  class="field"
                  value={profile}
                  onChange={({ currentTarget }) => setProfile(currentTarget.value)}
                >
                  <option value="">no profile</option>
                  {profiles.map((id) => (
                    <option key={id} value={id}>
                      {id}
                    </option>
                  ))}
                </select>
              </label>
              <label class="named">
                Principal
                <input
                  class="field"
                  value={principal}
                  placeholder="no one"
                  maxLength={256}
                  onInput={({ currentTarget }) => setPrincipal(currentTarget.value)}
                />
              </label>
            </div>
            <ToolSelect listing={listing} chosen={chosen} choose={setName} />
            {tool === undefined ? null : (
              <>
                <p class="soft small pre wrap">{tool.description}</p>
                <CallForm
                  key={`${profile} ${chosen}`}
                  store={store}
                  name={`${profile} ${chosen}`}
                  schema={tool.inputSchema}
                  busy={outcome?.kind === 'asking'}
                  send={send}
                  trouble={(text) => setOutcome({ kind: 'trouble', text })}
                />
              </>
            )}
          </div>
        </section>
        <section class="card" aria-live="polite" aria-label="Outcome">
          <header>
            <h2>Outcome</h2>
          </header>
          <div class="body form">
            <Shown outcome={outcome} go={go} />
          </div>
        </section>
      </div>
    </Scroll>
  );
}

function ToolSelect({
  listing,
  chosen,
  choose,
}: {
  readonly listing: ToolListing | undefined;
  readonly chosen: string;
  readonly choose: (name: string) => void;
}): JSX.Element {
  return (
    <label class="named">
      Tool
      <select
        class="field"
        value={chosen}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <optgroup label="Shown to the model">
          {listing?.shown.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </optgroup>
        {listing === undefined || listing.hidden.length === 0 ? null : (
          <optgroup label="Hidden: the call will be refused">
            {listing.hidden.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </label>
  );
}

function Shown({
  outcome,
  go,
}: {
  readonly outcome: Outcome | undefined;
  readonly go: ViewProps['go'];
}): JSX.Element {
  if (outcome === undefined)
    return (
      <Empty title="Nothing called yet">
        The call passes every gate that an agent's call passes, in a session of this profile.
      </Empty>
    );
  if (outcome.kind === 'trouble') return <p class="notice bad">{outcome.text}</p>;
  if (outcome.kind === 'asking')
    return (
      <>
        <p class="soft">{outcome.what}</p>
        <p>
          <button type="button" class="button" onClick={() => go({ view: 'approvals' })}>
            See the questions that wait
          </button>
        </p>
      </>
    );
  if (outcome.kind === 'verdict')
    return (
      <>
        <Verdict verdict={outcome.verdict} />
        {outcome.verdict.origins.length === 0 ? null : (
          <OriginsTable origins={outcome.verdict.origins} />
        )}
      </>
    );
  const { answer } = outcome;
  return (
    <>
      <p class="row">
        <Badge tone={toneOf(answer.status)}>{answer.code ?? answer.status}</Badge>
        <span class="soft small">after {durationOf(answer.durationMs)}</span>
      </p>
      {answer.message === undefined ? null : <p class="notice bad">{answer.message}</p>}
      {answer.output === undefined ? null : (
        <JsonText value={parsed(answer.output)} label="Output" />
      )}
    </>
  );
}
