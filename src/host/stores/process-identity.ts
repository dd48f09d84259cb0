export * from "../processes/process-identity.ts";
