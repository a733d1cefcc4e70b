// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors

// Carrier of the shared precompiled header; it has no code of its own.
