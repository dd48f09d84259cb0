import { nearestName } from "../base/nearest.ts";
import type { ActionManifest, Manifest } from "./manifest.ts";
import { splitActionName } from "./names.ts";

/** What the catalog has to know of a connection. */
export interface CatalogConnection {
  name: string;
  isDefault: boolean;
  /** Absent: all of the manifest's. */
  scopes?: string[];
}

/** One connector of the deployment, as far as the catalog goes. */
export interface CatalogConnector {
  name: string;
  manifest: Manifest;
  connections: readonly CatalogConnection[];
  /** `workflows`: its actions are files, which a step of its own calls. */
  how?: { kind: string };
}

/** The connection of a connector that says nothing about connections. */
export const IMPLICIT_CONNECTION = "default";

export type ActionLookup =
  | { ok: true; action: ActionManifest; connector: string }
  /** `help` may hold the nearest name and what there is. */
  | { ok: false; code: "catalog.unknown_action"; message: string; help: string };

export type ConnectionLookup =
  | { ok: true; connection: string; scopes: readonly string[] | null }
  | { ok: false; code: "catalog.no_default_connection"; message: string; help: string };

/** All that may be called: actions by their full name. Nothing is contacted. */
export class Catalog {
  readonly #connectors: ReadonlyMap<string, CatalogConnector>;

  constructor(connectors: Iterable<CatalogConnector>) {
    this.#connectors = new Map([...connectors].map((connector) => [connector.name, connector]));
  }

  /** Full names of all actions, sorted. */
  actionNames(): string[] {
    const names = [...this.#connectors.values()].flatMap((connector) =>
      Object.keys(connector.manifest.actions).map((name) => `${connector.name}.${name}`),
    );
    return names.sort();
  }

  connector(name: string): CatalogConnector | undefined {
    return this.#connectors.get(name);
  }

  /** Whether an action is a workflow: never a tool, nor anything else that is dispatched. */
  isWorkflow(action: string): boolean {
    const names = splitActionName(action);
    const connector = names ? this.#connectors.get(names.connector) : undefined;
    return connector?.how?.kind === "workflows" && Object.hasOwn(connector.manifest.actions, names?.name ?? "");
  }

  /** Exactly this name: no case folding, no aliases (WX-42). */
  find(action: string): ActionLookup {
    const names = splitActionName(action);
    const connector = names ? this.#connectors.get(names.connector) : undefined;
    if (names && connector && Object.hasOwn(connector.manifest.actions, names.name)) {
      const found = connector.manifest.actions[names.name];
      if (found) return { ok: true, action: found, connector: connector.name };
    }
    const near = nearestName(action, this.actionNames());
    const hint = near === null ? "" : `Did you mean "${near}"? `;
    if (connector) {
      const own = Object.keys(connector.manifest.actions).sort();
      return {
        ok: false,
        code: "catalog.unknown_action",
        message: `The connector ${connector.name} has no action "${cut(action)}".`,
        help: `${hint}Its actions: ${list(own)}.`,
      };
    }
    return {
      ok: false,
      code: "catalog.unknown_action",
      message: `There is no action "${cut(action)}" in the catalog.`,
      help: `${hint}Connectors: ${list([...this.#connectors.keys()].sort())}.`,
    };
  }

  /**
   * The default connection of a connector (WX-29): the implicit one where none is listed, else the only one
   * with `default: true`; a single connection without it is no default.
   */
  connectionOf(connectorName: string): ConnectionLookup {
    const connections = this.#connectors.get(connectorName)?.connections ?? [];
    if (connections.length === 0) return { ok: true, connection: IMPLICIT_CONNECTION, scopes: null };
    const defaults = connections.filter((connection) => connection.isDefault);
    const [only] = defaults;
    if (defaults.length === 1 && only) return { ok: true, connection: only.name, scopes: only.scopes ?? null };
    const names = list(connections.map((connection) => connection.name));
    return {
      ok: false,
      code: "catalog.no_default_connection",
      message:
        defaults.length === 0
          ? `The connector ${connectorName} has no default connection.`
          : `The connector ${connectorName} has ${defaults.length} default connections.`,
      help: `Exactly one of ${names} must say default: true in ambit.yaml.`,
    };
  }

  /** Scopes that an action needs and its default connection does not have (WX-31); empty if all are there. */
  missingScopes(action: ActionManifest): string[] {
    const connector = splitActionName(action.name)?.connector ?? "";
    const found = this.connectionOf(connector);
    if (!found.ok || found.scopes === null) return [];
    const granted = new Set(found.scopes);
    return action.scopes.filter((scope) => !granted.has(scope));
  }
}

const MAX_LISTED = 20;

function list(names: readonly string[]): string {
  if (names.length === 0) return "none";
  return names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", ..." : "");
}

function cut(name: string): string {
  return (name.length > 80 ? `${name.slice(0, 77)}...` : name).toWellFormed();
}
