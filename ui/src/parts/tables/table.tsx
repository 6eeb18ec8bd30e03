import { useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import { Scroller } from "@/parts/panels/scroller";
import { usePreferences } from "@/shell/preferences";

export interface Column<Row> {
  id: string;
  title: string;
  /** Shown in place of the title, which still names the column. */
  header?: ReactNode;
  /** Stays in view when a virtual table is scrolled sideways. */
  sticky?: boolean;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned at their end. */
  numeric?: boolean;
  /** Left out where there is no room for it. */
  wide?: boolean;
  /** Width as CSS grid has it in a virtual table: `8rem`, `minmax(10rem, 2fr)`. */
  width?: string;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** The row that the keyboard is at. */
  current?: string | undefined;
}

/** A table of few rows; it scrolls sideways by itself where it is too wide. */
export function Table<Row>({ label, columns, rows, rowKey, current }: TableProps<Row>) {
  return (
    <Scroller label={label} className="overflow-x-auto">
      <table className="w-full border-collapse">
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr className="border-b border-line-strong text-left text-muted">
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                className={`py-1.5 pr-4 font-medium whitespace-nowrap ${cellClass(column)}`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-current={current === rowKey(row) || undefined}
              className="h-(--row) border-b border-line hover:bg-raised data-current:bg-accent-soft"
            >
              {columns.map((column) => (
                <td key={column.id} className={`py-1 pr-4 align-middle ${cellClass(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function cellClass<Row>(column: Column<Row>): string {
  return `${column.numeric ? "number" : ""} ${column.wide ? "hidden md:table-cell" : ""}`;
}

const STICKY =
  "sticky right-0 flex h-full items-center justify-end bg-surface group-hover:bg-raised group-data-current:bg-accent-soft group-data-selected:bg-accent-soft";

/**
 * A table of any number of rows, of which only those in view are in the document. Its rows have one
 * height, and it scrolls in itself. `onEnd` is called near the last row, to load more.
 */
export function VirtualTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  current,
  total,
  rowHeight,
  selected,
  faded,
  className = "max-h-[calc(100dvh-15rem)] min-h-64",
  onEnd,
  onRow,
  onView,
}: TableProps<Row> & {
  total?: number | undefined;
  /** Height in pixels; by default what the chosen density says. */
  rowHeight?: number;
  /** True for rows that are picked. */
  selected?: (row: Row) => boolean;
  /** True for rows shown in a muted colour. */
  faded?: (row: Row) => boolean;
  className?: string;
  onEnd?: (() => void) | undefined;
  /** Called for a click on a row, beside its links and controls. */
  onRow?: (row: Row, event: MouseEvent) => void;
  /** Told which rows are in the document. */
  onView?: (first: number, last: number) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const { density } = usePreferences();
  const height = rowHeight ?? (density === "compact" ? 32 : 40);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (place) => rowKey(rows[place] as Row),
    overscan: 8,
    onChange: (instance) => {
      const items = instance.getVirtualItems();
      const last = items.at(-1);
      if (last === undefined) return;
      onView?.(items[0]?.index ?? 0, last.index);
      if (last.index >= rows.length - 20) onEnd?.();
    },
  });
  // What could not be loaded while something else was read is loaded once that has come.
  useEffect(() => {
    const last = virtual.getVirtualItems().at(-1);
    if (last !== undefined && last.index >= rows.length - 20) onEnd?.();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height asks to measure again
  useEffect(() => virtual.measure(), [height]);
  const place = current === undefined ? -1 : rows.findIndex((row) => rowKey(row) === current);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move scrolls, not a new row above
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: "auto" });
  }, [current]);
  const template = columns.map((column) => column.width ?? "minmax(6rem, 1fr)").join(" ");
  return (
    <Scroller ref={scroller} label={label} className={`overflow-auto ${className}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are placed by a grid, so roles say what they are */}
      <div role="table" aria-label={label} aria-rowcount={total ?? -1} className="min-w-max">
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        <div
          role="row"
          tabIndex={-1}
          aria-rowindex={1}
          className="sticky top-0 z-10 grid items-center border-b border-line-strong bg-surface text-muted"
          style={{ gridTemplateColumns: template }}
        >
          {columns.map((column) => (
            // biome-ignore lint/a11y/useSemanticElements: as above
            <div
              key={column.id}
              role="columnheader"
              tabIndex={-1}
              className={`px-2 py-1.5 font-medium whitespace-nowrap ${column.numeric ? "text-right" : ""} ${column.sticky ? "sticky right-0 bg-surface" : ""}`}
              aria-label={column.header ? column.title : undefined}
            >
              {column.header ?? column.title}
            </div>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index] as Row;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard opens a row by its link
              <div
                key={item.key}
                role="row"
                tabIndex={-1}
                aria-rowindex={item.index + 2}
                data-current={current === rowKey(row) || undefined}
                data-selected={selected?.(row) || undefined}
                className={`group absolute grid w-full items-center border-b border-line hover:bg-raised data-current:bg-accent-soft data-selected:bg-accent-soft ${faded?.(row) ? "text-muted" : ""} ${onRow ? "cursor-pointer" : ""}`}
                style={{ gridTemplateColumns: template, height: item.size, top: item.start }}
                onClick={(event) => {
                  const target = event.target as HTMLElement;
                  if (target.closest("a, button, input, [role=menu]") === null) onRow?.(row, event);
                }}
              >
                {columns.map((column) => (
                  // biome-ignore lint/a11y/useSemanticElements: as above
                  <div
                    key={column.id}
                    role="cell"
                    className={`px-2 ${column.numeric ? "text-right" : ""} ${column.sticky ? STICKY : "truncate"}`}
                  >
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </Scroller>
  );
}
