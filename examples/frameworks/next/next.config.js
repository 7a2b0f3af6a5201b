/** The settings of the program. */

/** @type {import("next").NextConfig} */
export default {
  // The package stays as it was installed, in one copy: its error classes are the same everywhere.
  serverExternalPackages: ["@halyard/node"],
};
