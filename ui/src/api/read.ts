import {
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod } from "openapi-typescript-helpers";
import { useEffect } from "react";
import { api } from "./client";
import type { Problem } from "./problem";
import type { paths } from "./schema";
import { stream, type Topic } from "./stream";

type GetPath = PathsWithMethod<paths, "get">;
type Init<P extends GetPath> = MaybeOptionalInit<paths[P], "get">;
/** Body of the successful response of a route. */
export type Answer<P extends keyof paths, M extends HttpMethod> =
  paths[P] extends Record<M, { responses: infer Responses }> ? SuccessBody<Responses> : never;
type SuccessBody<Responses> = Responses extends {
  200: { content: { "application/json": infer T } };
}
  ? T
  : Responses extends { 201: { content: { "application/json": infer T } } }
    ? T
    : unknown;
/** An entry of a list route. */
export type Item<P extends GetPath> = Answer<P, "get"> extends { items: (infer T)[] } ? T : never;

export interface ReadOptions<T>
  extends Pick<UseQueryOptions<T, Problem>, "enabled" | "refetchInterval" | "staleTime"> {
  /** Topics of the stream after whose changes this is read again. */
  topics?: readonly Topic[];
}

export function readKey(path: string, init: unknown): QueryKey {
  return [path, init ?? null];
}

/** Read a route, and again when one of its topics changes. Old data stays while new is read. */
export function useRead<P extends GetPath>(
  path: P,
  init?: Init<P>,
  { topics, ...options }: ReadOptions<Answer<P, "get">> = {},
): UseQueryResult<Answer<P, "get">, Problem> {
  const key = readKey(path, init);
  useTopics(topics ?? [], key, options.enabled !== false);
  return useQuery<Answer<P, "get">, Problem>({
    queryKey: key,
    queryFn: ({ signal }) => get(path, { ...init, signal }),
    placeholderData: keepPreviousData as never,
    ...options,
  });
}

/** Read a list page by page; `fetchNextPage` continues it by its cursor. */
export function useReadPages<P extends GetPath>(
  path: P,
  init: { params: { query?: Record<string, unknown>; path?: Record<string, unknown> } },
  { topics, ...options }: ReadOptions<unknown> = {},
) {
  type Page = { items: Item<P>[]; next_cursor?: string | null };
  const key = [...readKey(path, init), "pages"];
  useTopics(topics ?? [], key, options.enabled !== false);
  return useInfiniteQuery<Page, Problem, { pages: Page[] }, QueryKey, string | null>({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...init.params.query, ...(pageParam ? { cursor: pageParam } : {}) };
      return get(path, { params: { ...init.params, query }, signal } as never) as Promise<Page>;
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor ?? null,
    placeholderData: keepPreviousData as never,
    ...(options as object),
  });
}

/** One read outside a component. */
export async function get<P extends GetPath>(path: P, init?: unknown): Promise<Answer<P, "get">> {
  const { data } = await (api.GET as unknown as Call)(path, init);
  return data as Answer<P, "get">;
}

type Call = (path: string, init: unknown) => Promise<{ data?: unknown }>;
type WriteMethod = "post" | "patch" | "delete";
type WritePath<M extends WriteMethod> = PathsWithMethod<paths, M>;

/** A write; afterwards everything that its topics cover is read again. */
export function useWrite<M extends WriteMethod, P extends WritePath<M>>(
  method: M,
  path: P,
  { touches = [] as readonly Topic[] } = {},
) {
  const client = useQueryClient();
  return useMutation<Answer<P, M>, Problem, MaybeOptionalInit<paths[P], M>>({
    mutationFn: (init) => write(method, path, init),
    onSettled: () => refresh(client, touches),
  });
}

/** One write outside a component. */
export async function write<M extends WriteMethod, P extends WritePath<M>>(
  method: M,
  path: P,
  init: unknown,
): Promise<Answer<P, M>> {
  const call = api[method.toUpperCase() as "POST"] as unknown as Call;
  return (await call(path, init)).data as Answer<P, M>;
}

/** What components on the page show, and the topics that change it. */
const follows = new Set<{ topics: readonly Topic[]; key: QueryKey }>();

/** Read again all that follows one of these topics; without topics, everything. */
export function refresh(client: QueryClient, topics: readonly Topic[] = []): void {
  if (topics.length === 0) {
    void client.invalidateQueries();
    return;
  }
  const stale = new Map<string, QueryKey>();
  for (const each of follows)
    if (each.topics.some((topic) => topics.includes(topic)))
      stale.set(JSON.stringify(each.key), each.key);
  for (const queryKey of stale.values())
    void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
}

/** Read a query again when one of its topics changes; `useRead` does it by itself. */
export function useTopics(topics: readonly Topic[], key: QueryKey, enabled: boolean): void {
  const client = useQueryClient();
  const wanted = topics.join();
  const id = JSON.stringify(key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `id` stands for the key
  useEffect(() => {
    if (!enabled || wanted === "") return undefined;
    const names = wanted.split(",") as Topic[];
    const follow = { topics: names, key };
    follows.add(follow);
    const unfollow = stream.follow(names);
    return () => {
      unfollow();
      follows.delete(follow);
      // Nobody is told of its changes from here on: whoever shows it again reads it again.
      void client.invalidateQueries({ queryKey: key, exact: true, refetchType: "none" });
    };
  }, [client, wanted, id, enabled]);
}
