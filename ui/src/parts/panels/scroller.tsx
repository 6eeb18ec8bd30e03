import type { CSSProperties, ReactNode, Ref } from "react";

/** Content that scrolls in itself. The keyboard reaches it, so that arrows can scroll it. */
export function Scroller({
  label,
  className,
  style,
  ref,
  children,
}: {
  label: string;
  className: string;
  style?: CSSProperties;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fieldset, and no landmark beside that of its panel
    <div
      ref={ref}
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      className={className}
      style={style}
    >
      {children}
    </div>
  );
}
