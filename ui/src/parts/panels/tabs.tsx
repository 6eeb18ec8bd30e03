import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";

/** Views of one thing, of which one is shown: arrows move between the tabs. */
export function Tabs<Id extends string>({
  label,
  tabs,
  chosen,
  choose,
  children,
}: {
  label: string;
  tabs: readonly (readonly [id: Id, title: string])[];
  chosen: Id;
  choose: (id: Id) => void;
  children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(([each]) => each === chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    const place = (next + tabs.length) % tabs.length;
    choose((tabs[place] as (typeof tabs)[number])[0]);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[place]?.focus();
  };
  return (
    <div className="min-w-0">
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={move}
        className="mb-3 flex gap-1 overflow-x-auto border-b border-line"
      >
        {tabs.map(([each, title]) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`${id}-${each}`}
            aria-selected={each === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={each === chosen ? 0 : -1}
            className="min-h-8 border-b-2 border-transparent px-2.5 whitespace-nowrap text-muted hover:text-text aria-selected:border-accent aria-selected:font-medium aria-selected:text-text"
            onClick={() => choose(each)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  );
}
